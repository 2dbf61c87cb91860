"""From tables to figures and the page."""

# One rule for each figure, as each has a caption of its own.
for figure in (*PAPER, *STUDIES):

    rule:
        name:
            f"plot_{figure.replace('-', '_')}"
        input:
            **TABLES,
        output:
            pdf=f"results/{{experiment}}/figures/{figure}.pdf",
            png=report(
                f"results/{{experiment}}/figures/{figure}.png",
                caption=f"../workflow/report/{figure}.rst",
                category=(
                    "The paper's figures" if figure in PAPER else "Beyond the paper"
                ),
                labels={"figure": figure},
            ),
        log:
            f"logs/{{experiment}}/plot/{figure}.log",
        localrule: True
        conda:
            "../envs/automata.yaml"
        params:
            figure=figure,
        message:
            f"Drawing the figure {figure}"
        shell:
            """
            python -m automata plot results/{wildcards.experiment:q}/tables \
                --figure {params.figure:q} \
                --pdf {output.pdf:q} \
                --png {output.png:q} > {log:q} 2>&1
            """


for figure in OF_DATASET:

    rule:
        name:
            f"plot_dataset_{figure.replace('-', '_')}"
        input:
            **TABLES,
        output:
            pdf=f"results/{{experiment}}/figures/{figure}/{{dataset}}.pdf",
            png=report(
                f"results/{{experiment}}/figures/{figure}/{{dataset}}.png",
                caption=f"../workflow/report/{figure}.rst",
                category="Data sets",
                subcategory="{dataset}",
                labels={"figure": figure},
            ),
        log:
            f"logs/{{experiment}}/plot/{figure}/{{dataset}}.log",
        wildcard_constraints:
            dataset=DRAWN,
        localrule: True
        conda:
            "../envs/automata.yaml"
        params:
            figure=figure,
        message:
            f"Drawing the figure {figure} of {{wildcards.dataset}}"
        shell:
            """
            python -m automata plot-dataset results/{wildcards.experiment:q}/tables \
                --dataset {wildcards.dataset:q} \
                --figure {params.figure:q} \
                --pdf {output.pdf:q} \
                --png {output.png:q} > {log:q} 2>&1
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


rule paper_figures:
    input:
        collect(
            f"results/{SO_FAR}/figures/{{name}}.{{form}}",
            name=PAPER,
            form=["pdf", "png"],
        ),
    message:
        f"The paper's figures from all runs so far are in results/{SO_FAR}/figures/"
