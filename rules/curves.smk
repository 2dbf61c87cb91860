"""Learning curves, and searches that are simulated on them.

Needs: prepared data sets, or published learning curves.
Makes: results/curves/ and, in results/{experiment}/, tables and figures of simulated searches.
Steps: record curves in measured jobs; simulate searches on the curves; plot the regret.
"""

from automata.simulation import TABLES as SIMULATED

CURVES = {path.removesuffix(".json"): job for path, job in GRID.curves.items()}
CURVES_READ = [f"results/curves/{path}" for path in GRID.recorded_curves]
FIGURES_OF_REGRET = [
    f"results/{EXPERIMENT}/figures/{name}.png" for name in GRID.regret_figures
]


rule record_curves:
    """Record the learning curves of some configurations of one data set and selector."""
    input:
        lambda wildcards: ancient(GRID.prepared(CURVES[wildcards.part].dataset)),
    output:
        "results/curves/{part}.json",
    log:
        "logs/curves/{part}.log",
    wildcard_constraints:
        part=alternatives(CURVES),
    conda:
        "../envs/automata.yaml"
    threads: WHOLE_MACHINE
    resources:
        measured=1,
    params:
        job=lambda wildcards: CURVES[wildcards.part].model_dump_json(),
        work="results/work/curves/{part}",
    message:
        "Recording learning curves: {wildcards.part}"
    shell:
        """
        exec python -m automata record-curves {input:q} \
            --job {params.job:q} \
            --work {params.work:q} \
            --output {output:q} \
            --notices 3 3>&2 > {log:q} 2>&1
        """


rule simulate:
    """Join all learning curves in one table, and simulate searches on it."""
    input:
        CURVES_READ,
    output:
        curves=f"results/{EXPERIMENT}/learning-curves.parquet",
        tables=[f"results/{EXPERIMENT}/tables/{name}.csv" for name in SIMULATED],
    log:
        f"logs/{EXPERIMENT}/simulate.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        experiment=EXPERIMENT,
        job=as_json(
            {
                "published": GRID.published_curves,
                "trainings": GRID.trainings_of_curves,
                "searches": GRID.simulated,
                "real": GRID.real_runs,
            }
        ),
    message:
        "Simulating searches"
    shell:
        """
        python -m automata simulate {input:q} \
            --job {params.job:q} \
            --curves {output.curves:q} \
            --output results/{params.experiment:q}/tables > {log:q} 2>&1
        """


use rule plot as plot_regret with:
    input:
        f"results/{EXPERIMENT}/tables/simulated.csv",
    output:
        FIGURES_OF_REGRET,
        [f"results/{EXPERIMENT}/figures/{name}.pdf" for name in GRID.regret_figures],
    log:
        f"logs/{EXPERIMENT}/plot_regret.log",
    params:
        experiment=EXPERIMENT,
        names=GRID.regret_figures,
    message:
        "Drawing the regret of simulated searches"


rule learning_curves:
    """Target: learning curves, and searches that are simulated on them."""
    input:
        CURVES_READ,
        FIGURES_OF_REGRET,
