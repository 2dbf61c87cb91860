"""Copies of results that are published with the project.

Needs: records, tables, figures and the page; or learning curves and their tables and figures.
Makes: results/reference/{experiment}/, with all records in one file; results/reference/curves/.
"""


rule publish_curves:
    """Target: add the learning curves to the published ones; copy their tables and figures."""
    input:
        made=[rules.simulate.output.tables, FIGURES_OF_REGRET],
        records=[],
        curves=CURVES_READ,
    log:
        f"logs/{EXPERIMENT}/publish_curves.log",
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
            --curves {input.curves:q} \
            --source results/{params.experiment:q} \
            --target results/reference/{params.experiment:q} > {log:q} 2>&1
        """


use rule publish_curves as publish with:
    input:
        made=OUTPUTS.published,
        records=lambda wildcards: OUTPUTS.records,
        curves=[],
    output:
        f"results/reference/{EXPERIMENT}/records.tar.xz",
        [path.replace("results", "results/reference", 1) for path in OUTPUTS.published],
    log:
        f"logs/{EXPERIMENT}/publish.log",
