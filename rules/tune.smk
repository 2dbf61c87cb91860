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
    threads: threads_of_run
    resources:
        measured=1,
        nodes=1,
        mem_mb=memory,
        runtime=minutes,
        gpu=request("gpus"),
        gpu_model=request("gpu_type"),
        slurm_partition=request("partition"),
        slurm_extra=node_of_its_own,
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
