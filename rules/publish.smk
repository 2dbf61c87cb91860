"""What is published of an experiment: its records in one file, and all that was made of them."""

PUBLISHED = f"results/reference/{EXPERIMENT}"
MADE = OUTPUTS.published


rule pack:
    input:
        records,
    output:
        f"{PUBLISHED}/records.tar.xz",
    log:
        f"logs/{EXPERIMENT}/pack.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Packing the records"
    shell:
        """
        python -m automata pack {input:q} --output {output:q} > {log:q} 2>&1
        """


rule copy:
    input:
        MADE,
    output:
        [path.replace("results/", "results/reference/", 1) for path in MADE],
    log:
        f"logs/{EXPERIMENT}/copy.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        experiment=EXPERIMENT,
    message:
        "Copying tables, figures and page"
    shell:
        """
        python -m automata publish {input:q} \
            --source results/{params.experiment:q} \
            --target results/reference/{params.experiment:q} > {log:q} 2>&1
        """


rule publish:
    input:
        rules.pack.output,
        rules.copy.output,
    message:
        f"{PUBLISHED} is ready to be committed"
