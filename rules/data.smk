"""From the source of a data set to its prepared file."""


rule prepare:
    input:
        own_files,
    output:
        "results/data/{dataset}.safetensors",
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../envs/automata.yaml"
    params:
        preparation=preparation,
    message:
        "Preparing {wildcards.dataset}"
    shell:
        """
        python -m automata prepare {wildcards.dataset} \
            --preparation {params.preparation:q} {DOWNLOADS} \
            --output {output} > {log} 2>&1
        """
