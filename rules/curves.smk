"""Recorded learning curves, on which searches are simulated."""

FIGURES_OF_REGRET = expand(
    f"results/{EXPERIMENT}/figures/regret-{{scheduler}}.png",
    scheduler=GRID.simulated_schedulers,
)


rule record_curves:
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
            --output {output:q} > {log:q} 2>&1
        """


rule join_curves:
    input:
        CURVES_READ,
    output:
        f"results/{EXPERIMENT}/learning-curves.parquet",
    log:
        f"logs/{EXPERIMENT}/join-curves.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        published=flag("--published", GRID.published_curves),
        trainings=as_is(json.dumps(GRID.trainings_of_curves)),
    message:
        "Joining learning curves"
    shell:
        """
        python -m automata join-curves {input:q} \
            --trainings {params.trainings:q} \
            --output {output:q} \
            {params.published:q} > {log:q} 2>&1
        """


rule simulate:
    input:
        rules.join_curves.output,
    output:
        table=f"results/{EXPERIMENT}/tables/simulated.csv",
        more=expand(
            f"results/{EXPERIMENT}/tables/{{name}}.csv",
            name=[
                "contrasts",
                "decision",
                "chosen",
                "pool",
                "rank-correlation",
                "noise",
                "validation",
            ],
        ),
    log:
        f"logs/{EXPERIMENT}/simulate.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: WHOLE_MACHINE
    params:
        searches=as_is(
            json.dumps(
                {
                    name: it.model_dump(mode="json")
                    for name, it in GRID.simulated.items()
                }
            )
        ),
        real=flag("--real", GRID.real_runs),
        tables=subpath(output.table, parent=True),
    message:
        "Simulating searches"
    shell:
        """
        python -m automata simulate {input:q} \
            --searches {params.searches:q} \
            --output {params.tables:q} \
            --processes {threads} \
            {params.real:q} > {log:q} 2>&1
        """


rule plot_regret:
    input:
        rules.simulate.output.table,
    output:
        f"results/{EXPERIMENT}/figures/regret-{{scheduler}}.pdf",
        f"results/{EXPERIMENT}/figures/regret-{{scheduler}}.png",
    log:
        f"logs/{EXPERIMENT}/plot/regret-{{scheduler}}.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Drawing regret under {wildcards.scheduler}"
    shell:
        """
        python -m automata plot-regret {input:q} \
            --scheduler {wildcards.scheduler} \
            --output {output:q} > {log:q} 2>&1
        """


rule learning_curves:
    input:
        CURVES_READ,
        FIGURES_OF_REGRET,
    localrule: True
    message:
        "All learning curves are recorded, and searches simulated on them"


rule publish_curves:
    input:
        curves=CURVES_READ,
        made=[rules.simulate.output, FIGURES_OF_REGRET],
    log:
        f"logs/{EXPERIMENT}/publish-curves.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        experiment=EXPERIMENT,
    message:
        "Adding learning curves to results/reference/curves, with what is made of them"
    shell:
        """
        (
            python -m automata publish-curves {input.curves:q} --target results/reference/curves
            python -m automata publish {input.made:q} \
                --source results/{params.experiment:q} \
                --target results/reference/{params.experiment:q}
        ) > {log:q} 2>&1
        """
