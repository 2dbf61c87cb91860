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
    message:
        "Comparing the runs with FULL"
    shell:
        """
        python -m automata tradeoff {input} \
            --ratios {output.ratios} \
            --csv {output.csv} \
            --markdown {output.markdown} > {log} 2>&1
        """


rule tables:
    input:
        "results/tables/runs.csv",
        "results/tables/tradeoff.csv",
