"""From the source of a data set to its prepared file."""


wildcard_constraints:
    version=versions(),


rule prepare:
    input:
        own_files,
    output:
        "results/data/{dataset}{version}.safetensors",
    log:
        "logs/prepare/{dataset}{version}.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        preparation=preparation,
        files=data_contents,
    message:
        "Preparing {wildcards.dataset}"
    shell:
        """
        python -m automata prepare {wildcards.dataset:q} \
            --preparation {params.preparation:q} \
            --files {params.files:q} \
            --output {output:q} > {log:q} 2>&1
        """
