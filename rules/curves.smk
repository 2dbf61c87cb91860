"""Recorded learning curves, on which searches are simulated."""


rule record_curves:
    input:
        lambda wildcards: ancient(GRID.prepared(CURVES[wildcards.part].dataset)),
    output:
        "results/curves/{part}.json",
    log:
        "logs/curves/{part}.log",
    wildcard_constraints:
        part=".+",
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
        expand("results/curves/{part}.json", part=CURVES),
    output:
        f"results/{EXPERIMENT}/learning-curves.parquet",
    log:
        f"logs/{EXPERIMENT}/join-curves.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Joining learning curves"
    shell:
        "python -m automata join-curves {input:q} --output {output:q} > {log:q} 2>&1"


rule simulate:
    input:
        rules.join_curves.output,
    output:
        table=f"results/{EXPERIMENT}/tables/simulated.csv",
        correlations=f"results/{EXPERIMENT}/tables/rank-correlation.csv",
        noise=f"results/{EXPERIMENT}/tables/noise.csv",
    log:
        f"logs/{EXPERIMENT}/simulate.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        searches=as_is(
            json.dumps({name: it.model_dump() for name, it in GRID.simulated.items()})
        ),
    message:
        "Simulating searches"
    shell:
        """
        python -m automata simulate {input:q} \
            --searches {params.searches:q} \
            --output {output.table:q} \
            --correlations {output.correlations:q} \
            --noise {output.noise:q} > {log:q} 2>&1
        """


rule plot_regret:
    input:
        rules.simulate.output.table,
    output:
        f"results/{EXPERIMENT}/figures/regret.pdf",
        f"results/{EXPERIMENT}/figures/regret.png",
    log:
        f"logs/{EXPERIMENT}/plot/regret.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Drawing regret"
    shell:
        "python -m automata plot-regret {input:q} --output {output:q} > {log:q} 2>&1"


rule learning_curves:
    input:
        expand("results/curves/{part}.json", part=CURVES),
        rules.plot_regret.output if CURVES else [],
    localrule: True
    message:
        "All learning curves are recorded, and searches simulated on them"
