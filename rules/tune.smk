"""The measured jobs: one search, final training and test each."""


rule tune:
    input:
        prepared,
    output:
        f"results/runs/{RUN}/record.json",
    log:
        f"logs/tune/{RUN}.log",
    benchmark:
        f"benchmarks/tune/{RUN}.tsv"
    conda:
        "../envs/automata.yaml"
    threads: WHOLE_MACHINE
    resources:
        measured=1,
    params:
        settings=settings,
        work=f"results/work/{RUN}",
    message:
        "Tuning {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler} "
        "on {wildcards.selector} {wildcards.fraction}, seed {wildcards.seed}"
    shell:
        """
        python -m automata tune {input} \
            --dataset {wildcards.dataset} \
            --search {wildcards.search} \
            --scheduler {wildcards.scheduler} \
            --selector {wildcards.selector} \
            --fraction {wildcards.fraction} \
            --seed {wildcards.seed} \
            --settings {params.settings:q} \
            --work {params.work} \
            --output {output} > {log} 2>&1
        """
