"""Copies of results that are published with the project.

Needs: records, tables, figures and the page.
Makes: results/reference/{experiment}/, with all records in one file.
"""


rule publish:
    """Target: the published results of the experiment."""
    input:
        made=OUTPUTS.published,
        records=lambda wildcards: OUTPUTS.records,
    output:
        f"results/reference/{EXPERIMENT}/records.tar.xz",
        [path.replace("results", "results/reference", 1) for path in OUTPUTS.published],
    log:
        f"logs/{EXPERIMENT}/publish.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        experiment=EXPERIMENT,
    message:
        "Copying to results/reference/{params.experiment}"
    shell:
        """
        python -m automata publish {input.made:q} \
            --records {input.records:q} \
            --source results/{params.experiment:q} \
            --target results/reference/{params.experiment:q} > {log:q} 2>&1
        """
