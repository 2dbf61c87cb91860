"""From the source of a data set to its prepared file.

Needs: the user's own files, whose content is in the name of the prepared file; others are
downloaded.
Makes: results/data/{dataset}{version}.safetensors; .encoding.json, the encoding of its rows; and
.baselines.json, the scores of simple models.
"""


rule prepare:
    """Read, split and encode a data set."""
    output:
        prepared="results/data/{dataset}{version}.safetensors",
        encoding="results/data/{dataset}{version}.encoding.json",
    log:
        "logs/prepare/{dataset}{version}.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        preparation=lambda wildcards: json.dumps(
            part(wildcards).preparation(wildcards.dataset).stated(), sort_keys=True
        ),
        files=lambda wildcards: json.dumps(
            GRID.data_contents(wildcards.dataset), sort_keys=True
        ),
    message:
        "Preparing {wildcards.dataset}"
    shell:
        """
        python -m automata prepare {wildcards.dataset:q} \
            --preparation {params.preparation:q} \
            --files {params.files:q} \
            --output {output.prepared:q} \
            --encoding {output.encoding:q} > {log:q} 2>&1
        """


rule fit_baselines:
    """Score simple models on the test rows of an own data set."""
    input:
        "results/data/{dataset}{version}.safetensors",
    output:
        "results/data/{dataset}{version}.baselines.json",
    log:
        "logs/baselines/{dataset}{version}.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Fitting simple models to {wildcards.dataset}"
    shell:
        "python -m automata baselines {input:q} --output {output:q} > {log:q} 2>&1"
