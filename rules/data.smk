"""From the source of a data set to its prepared file."""


rule prepare:
    output:
        "results/data/{dataset}.safetensors",
    log:
        "logs/prepare/{dataset}.log",
    conda:
        "../envs/automata.yaml"
    message:
        "Preparing {wildcards.dataset}"
    shell:
        "python -m automata prepare {wildcards.dataset} --output {output} > {log} 2>&1"
