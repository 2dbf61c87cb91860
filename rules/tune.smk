"""The measured jobs: each has one search, one final training and one test.

Needs: prepared data sets.
Makes: results/runs/.../record.json and, for models to keep, model.safetensors beside it.
"""


# Without `update`, Snakemake would delete a finished record before the job starts. A job that is not
# forced keeps the record of a finished run.
rule tune:
    """Tune on one data set with one search, scheduler, selector, subset size and seed."""
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
        **configured(
            slurm_partition=lambda part: part.job.partition,
            slurm_extra=lambda part: (
                "--exclusive" if part.metering.exclusive else None
            ),
        ),
        measured=1,
        nodes=1,
        # Each attempt requests twice the memory and time of the one before.
        mem_mb=lambda wildcards, attempt: part(wildcards).job.memory_mb
        * 2 ** (attempt - 1),
        runtime=lambda wildcards, attempt: part(wildcards).job.minutes
        * 2 ** (attempt - 1),
        gpu=lambda wildcards: part(wildcards).job.gpus,
        gpu_model=lambda wildcards: part(wildcards).job.gpu_type,
    params:
        job=lambda wildcards: GRID.job_text(**wildcards),
        work=f"results/work/{RUN}",
    message:
        "Tuning {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler} "
        "on {wildcards.selector} {wildcards.fraction}, seed {wildcards.seed}"
    shell:
        """
        exec python -m automata tune {input:q} \
            --job {params.job:q} \
            --work {params.work:q} \
            --output {output:q} \
            --notices 3 3>&2 > {log:q} 2>&1
        """


# As `tune`, with the trained model beside the record. For a finished run it trains only the model.
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
