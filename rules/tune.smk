"""The measured jobs: one search, final training and test each."""


# Its output is marked as one to update, so that Snakemake does not remove a finished record before
# the job has a new one. The job itself leaves the record of a finished run as it is.
rule tune:
    input:
        lambda wildcards: ancient(GRID.prepared(wildcards.dataset)),
    output:
        update(f"results/runs/{RUN}/record.json"),
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
        mem_mb=growing("memory_mb"),
        runtime=growing("minutes"),
        gpu=request("gpus"),
        gpu_model=request("gpu_type"),
        slurm_partition=request("partition"),
        slurm_extra=node_of_its_own,
    params:
        settings=lambda wildcards: json.dumps(
            job_of_run(wildcards).settings.model_dump(mode="json"), sort_keys=True
        ),
        files=lambda wildcards: json.dumps(job_of_run(wildcards).files, sort_keys=True),
        work=f"results/work/{RUN}",
    message:
        "Tuning {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler} "
        "on {wildcards.selector} {wildcards.fraction}, seed {wildcards.seed}"
    shell:
        """
        exec python -m automata tune {input:q} \
            --dataset {wildcards.dataset:q} \
            --search {wildcards.search:q} \
            --scheduler {wildcards.scheduler:q} \
            --selector {wildcards.selector:q} \
            --fraction {wildcards.fraction:q} \
            --seed {wildcards.seed:q} \
            --settings {params.settings:q} \
            --files {params.files:q} \
            --work {params.work:q} \
            --output {output:q} \
            --notices 3 3>&2 > {log:q} 2>&1
        """


# The same with the trained model beside the record. Of a finished run only the model is made.
use rule tune as tune_and_keep with:
    input:
        lambda wildcards: ancient(GRID.prepared(wildcards.dataset)),
        lambda wildcards: ancient(GRID.encoding(wildcards.dataset)),
    output:
        update(f"results/runs/{RUN}/record.json"),
        update(f"results/runs/{RUN}/{MODEL}"),
    wildcard_constraints:
        dataset=alternatives(place.dataset for place in GRID.kept),
        selector=alternatives(place.selector for place in GRID.kept),


ruleorder: tune_and_keep > tune
