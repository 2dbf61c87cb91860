"""From tables to figures and the page.

Needs: the tables that `collect` and `tabulate` make.
Makes: results/{experiment}/figures/ and index.html beside it; results/{experiment}/paper/.
Steps: plot all figures; build the page. Captions are in the catalogue (automata.analysis.views).
"""

from importlib.resources import files

from automata.analysis.views import PAPER, named, view_of


rule plot:
    """Draw all figures in one job, because a process starts slower than it draws a figure."""
    input:
        OUTPUTS.collected,
        f"results/{EXPERIMENT}/tables/ratios.csv",
    output:
        [f"results/{EXPERIMENT}/figures/{name}.pdf" for name in OUTPUTS.drawn],
        [
            report(
                f"results/{EXPERIMENT}/figures/{name}.png",
                category=view_of(name).group,
                labels={"figure": name, "shows": view_of(name).caption},
            )
            for name in OUTPUTS.drawn
        ],
    log:
        f"logs/{EXPERIMENT}/plot.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: READERS
    params:
        **CODE,
        experiment=EXPERIMENT,
        names=OUTPUTS.drawn,
    message:
        "Drawing the figures"
    shell:
        """
        python -m automata plot results/{params.experiment:q}/tables {params.names:q} \
            --processes {threads} \
            --output results/{params.experiment:q}/figures > {log:q} 2>&1
        """


rule build_page:
    """Make the page that shows the experiment offline."""
    input:
        OUTPUTS.tables,
        OUTPUTS.best,
        OUTPUTS.figures,
    output:
        report(OUTPUTS.page, caption="../workflow/report/page.rst", category="Page"),
    log:
        f"logs/{EXPERIMENT}/build_page.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        **CODE,
        experiment=EXPERIMENT,
    message:
        f"Building the page of {EXPERIMENT}"
    shell:
        "python -m automata page results/{params.experiment:q} > {log:q} 2>&1"


rule figures:
    """Target: all figures."""
    input:
        OUTPUTS.figures,


rule paper_figures:
    """Target: the paper's figures from the available records. It starts no run."""
    input:
        OUTPUTS.records if ARCHIVES else [],
    log:
        f"logs/{EXPERIMENT}/paper_figures.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: READERS
    params:
        records=lambda wildcards: OUTPUTS.existing,
        comparison=as_json(GRID.shared.comparison),
        carbon=as_json(GRID.shared.carbon),
        names=named(PAPER),
        folder=f"{OUTPUTS.folder}/paper",
        framework=str(files("automata") / "figures/framework.png"),
    message:
        "Drawing the paper's figures in {params.folder}, from the available records"
    shell:
        """
        (
            python -m automata collect {params.records:q} \
                --processes {threads} \
                --comparison {params.comparison:q} \
                --output {params.folder:q}/tables
            python -m automata tabulate {params.folder:q}/tables --carbon {params.carbon:q}
            python -m automata plot {params.folder:q}/tables {params.names:q} \
                --processes {threads} \
                --output {params.folder:q}
            cp {params.framework:q} {params.folder:q}
        ) > {log:q} 2>&1
        """
