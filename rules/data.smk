"""From the source of a data set to its prepared file.

Needs: the user's own files; others are downloaded.
Makes: results/data/{dataset}{version}.safetensors, and .encoding.json, the encoding of its rows.
"""


rule prepare:
    """Read, split and encode a data set."""
    input:
        own_files,
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
