"""From tables to figures and the page.

A rule draws several figures, as one alone would take less time than to start its process. Each
has a caption of its own in the report.
"""

# What takes longest has the highest priority, so that no core is left alone with it at the end.
for part, names, category in [
    ("paper", PAPER, "The paper's figures"),
    ("studies", STUDIES, "Beyond the paper"),
]:

    rule:
        name:
            f"plot_{part}"
        input:
            **TABLES,
        output:
            collect("results/{{experiment}}/figures/{figure}.pdf", figure=names),
            [
                report(
                    f"results/{{experiment}}/figures/{figure}.png",
                    caption=f"../workflow/report/{figure}.rst",
                    category=category,
                    labels={"figure": figure},
                )
                for figure in names
            ],
        log:
            f"logs/{{experiment}}/plot/{part}.log",
        priority: 2
        localrule: True
        conda:
            "../envs/automata.yaml"
        params:
            figures=list(names),
        message:
            f"Drawing {', '.join(names)}"
        shell:
            """
            python -m automata plot results/{wildcards.experiment:q}/tables \
                --figures {params.figures:q} \
                --output results/{wildcards.experiment:q}/figures > {log:q} 2>&1
            """


for experiment, prefix in [(EXPERIMENT, "plot"), (SO_FAR, "plot_so_far")]:
    for i, datasets in enumerate(batches(experiment)):

        rule:
            name:
                f"{prefix}_datasets_{i}"
            input:
                **{
                    key: path.format(experiment=experiment)
                    for key, path in TABLES.items()
                },
            output:
                collect(
                    f"results/{experiment}/figures/{{figure}}/{{dataset}}.pdf",
                    figure=OF_DATASET,
                    dataset=datasets,
                ),
                [
                    report(
                        f"results/{experiment}/figures/{figure}/{dataset}.png",
                        caption=f"../workflow/report/{figure}.rst",
                        category="Data sets",
                        subcategory=dataset,
                        labels={"figure": figure},
                    )
                    for figure in OF_DATASET
                    for dataset in datasets
                ],
            log:
                f"logs/{experiment}/plot/datasets-{i}.log",
            priority: 3
            localrule: True
            conda:
                "../envs/automata.yaml"
            params:
                experiment=experiment,
                datasets=datasets,
                figures=list(OF_DATASET),
            message:
                f"Drawing the figures of {', '.join(datasets)}"
            shell:
                """
                python -m automata plot-datasets results/{params.experiment:q}/tables \
                    --datasets {params.datasets:q} \
                    --figures {params.figures:q} \
                    --output results/{params.experiment:q}/figures > {log:q} 2>&1
                """


rule build_page:
    input:
        tables=tables_on_page,
        figures=figures_on_page,
        captions=ancient(str(CAPTIONS)),
    output:
        report(
            "results/{experiment}/index.html",
            caption="../workflow/report/page.rst",
            category="Page",
        ),
    log:
        "logs/{experiment}/build_page.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: 2
    params:
        content=content(CAPTIONS),
    message:
        "Building the page of {wildcards.experiment}"
    shell:
        """
        python -m automata page results/{wildcards.experiment:q}/tables \
            --figures results/{wildcards.experiment:q}/figures \
            --captions {input.captions:q} \
            --title {wildcards.experiment:q} \
            --output {output:q} > {log:q} 2>&1
        """


rule figures:
    input:
        figures_of(EXPERIMENT),


# From published records, if there are any in the configuration, else from all runs so far.
REDRAWN = EXPERIMENT if ARCHIVES else SO_FAR


rule paper_figures:
    input:
        collect(
            f"results/{REDRAWN}/figures/{{name}}.{{form}}",
            name=PAPER,
            form=["pdf", "png"],
        ),
    message:
        f"The paper's figures from all records there are lie in results/{REDRAWN}/figures/"
