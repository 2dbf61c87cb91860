"""From records to tables."""


rule collect:
    input:
        records,
    output:
        csv="results/tables/runs.csv",
        parquet="results/tables/runs.parquet",
    log:
        "logs/collect.log",
    conda:
        "../envs/automata.yaml"
    message:
        "Collecting the table of runs"
    shell:
        """
        python -m automata collect {input} \
            --csv {output.csv} \
            --parquet {output.parquet} > {log} 2>&1
        """


rule tabulate_tradeoff:
    input:
        "results/tables/runs.parquet",
    output:
        ratios="results/tables/ratios.csv",
        csv="results/tables/tradeoff.csv",
        markdown="results/tables/tradeoff.md",
    log:
        "logs/tabulate_tradeoff.log",
    conda:
        "../envs/automata.yaml"
    params:
        carbon=carbon,
    message:
        "Comparing the runs with FULL"
    shell:
        """
        python -m automata tradeoff {input} \
            --carbon {params.carbon:q} \
            --ratios {output.ratios} \
            --csv {output.csv} \
            --markdown {output.markdown} > {log} 2>&1
        """


rule tabulate_energy:
    input:
        "results/tables/runs.parquet",
    output:
        csv="results/tables/energy.csv",
        markdown="results/tables/energy.md",
    log:
        "logs/tabulate_energy.log",
    conda:
        "../envs/automata.yaml"
    params:
        carbon=carbon,
    message:
        "Adding up energy and CO2"
    shell:
        """
        python -m automata energy {input} \
            --carbon {params.carbon:q} \
            --csv {output.csv} \
            --markdown {output.markdown} > {log} 2>&1
        """


rule tables:
    input:
        "results/tables/runs.csv",
        "results/tables/tradeoff.csv",
        "results/tables/energy.csv",
