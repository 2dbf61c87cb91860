"""The measured jobs: one search, final training and test each.

Needs: prepared data sets.
Makes: results/runs/.../record.json, and model.safetensors beside it where that is kept.
"""

from automata.runs import MODEL


# Its output is marked as one to update, so that Snakemake does not remove a finished record before
# the job has a new one. The job itself leaves the record of a finished run as it is.
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
        measured=1,
        nodes=1,
        # Each attempt asks for twice the memory and time of the one before.
        mem_mb=lambda wildcards, attempt: part(wildcards).job.memory_mb
        * 2 ** (attempt - 1),
        runtime=lambda wildcards, attempt: part(wildcards).job.minutes
        * 2 ** (attempt - 1),
        gpu=of_part(lambda it: it.job.gpus),
        gpu_model=of_part(lambda it: it.job.gpu_type),
        slurm_partition=of_part(lambda it: it.job.partition),
        slurm_extra=of_part(lambda it: "--exclusive" if it.metering.exclusive else None),
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
