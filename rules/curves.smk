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


rule learning_curves:
    input:
        expand("results/curves/{part}.json", part=CURVES),
    localrule: True
    message:
        "All learning curves are recorded"
