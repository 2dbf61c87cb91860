"""From tables to figures and the page. Captions are those of the catalogue (automata.views)."""


rule plot:
    input:
        **TABLES,
    output:
        "results/{experiment}/figures/{figure}.pdf",
        report(
            "results/{experiment}/figures/{figure}.png",
            caption="../workflow/report/figure.rst",
            category=lambda wildcards: (
                "The paper's figures"
                if wildcards.figure in PAPER
                else "Beyond the paper"
            ),
            labels={"figure": "{figure}"},
        ),
    log:
        "logs/{experiment}/plot/{figure}.log",
    wildcard_constraints:
        figure="|".join([*PAPER, *STUDIES]),
    priority: 2
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        caption=lambda wildcards: (PAPER | STUDIES)[wildcards.figure].caption,
    message:
        "Drawing {wildcards.figure}"
    shell:
        """
        python -m automata plot results/{wildcards.experiment:q}/tables \
            --figures {wildcards.figure:q} \
            --output results/{wildcards.experiment:q}/figures > {log:q} 2>&1
        """


# One process draws all figures of a data set: to start one takes longer than to draw one. They take
# longest and have the highest priority, so that no core is left alone with them at the end.
rule plot_dataset:
    input:
        **TABLES,
    output:
        collect(
            "results/{{experiment}}/figures/{figure}/{{dataset}}.pdf",
            figure=OF_DATASET,
        ),
        [
            report(
                f"results/{{experiment}}/figures/{figure}/{{dataset}}.png",
                caption=f"../workflow/report/{figure}.rst",
                category="Data sets",
                subcategory="{dataset}",
                labels={"figure": figure},
            )
            for figure in OF_DATASET
        ],
    log:
        "logs/{experiment}/plot/datasets/{dataset}.log",
    wildcard_constraints:
        dataset=alternatives(GRID.datasets),
    priority: 3
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        figures=list(OF_DATASET),
        captions={name: view.caption for name, view in OF_DATASET.items()},
    message:
        "Drawing the figures of {wildcards.dataset}"
    shell:
        """
        python -m automata plot-datasets results/{wildcards.experiment:q}/tables \
            --datasets {wildcards.dataset:q} \
            --figures {params.figures:q} \
            --output results/{wildcards.experiment:q}/figures > {log:q} 2>&1
        """


rule build_page:
    input:
        tables=OUTPUTS.tables,
        figures=figure_on_page,
        best="results/{experiment}/best.yaml",
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
    message:
        "Building the page of {wildcards.experiment}"
    shell:
        """
        python -m automata page results/{wildcards.experiment:q}/tables \
            --figures results/{wildcards.experiment:q}/figures \
            --title {wildcards.experiment:q} \
            --output {output:q} > {log:q} 2>&1
        """


rule figures:
    input:
        OUTPUTS.figures,


# It has no output: each call draws the records that there are by then.
rule paper_figures:
    input:
        records=f"results/{EXPERIMENT}/records" if ARCHIVES else [],
        protocol=ancient(map(str, PROTOCOLS)),
    log:
        f"logs/{EXPERIMENT}/paper_figures.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: READERS
    params:
        records=existing_records,
        comparison=as_json(GRID.shared.comparison),
        carbon=as_json(GRID.shared.carbon),
        folder=f"results/{EXPERIMENT}/paper",
    message:
        "Drawing the paper's figures in {params.folder}, from the records there are"
    shell:
        """
        python -m automata paper-figures {params.records:q} \
            --processes {threads} \
            --comparison {params.comparison:q} \
            --carbon {params.carbon:q} \
            --defaults {input.protocol[0]:q} \
            --paper {input.protocol[1]:q} \
            --output {params.folder:q} > {log:q} 2>&1
        """
