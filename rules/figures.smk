"""From tables to figures."""


rule plot_tradeoff:
    input:
        "results/tables/ratios.csv",
    output:
        pdf="results/figures/tradeoff/{dataset}/{search}-{scheduler}.pdf",
        png=report(
            "results/figures/tradeoff/{dataset}/{search}-{scheduler}.png",
            caption="../workflow/report/tradeoff.rst",
            category="Tradeoff",
            labels={
                "data set": "{dataset}",
                "search": "{search}",
                "scheduler": "{scheduler}",
            },
        ),
    log:
        "logs/plot_tradeoff/{dataset}/{search}-{scheduler}.log",
    conda:
        "../envs/automata.yaml"
    message:
        "Drawing the tradeoff of {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler}"
    shell:
        """
        python -m automata plot-tradeoff {input} \
            --dataset {wildcards.dataset} \
            --search {wildcards.search} \
            --scheduler {wildcards.scheduler} \
            --pdf {output.pdf} \
            --png {output.png} > {log} 2>&1
        """


rule figures:
    input:
        panels,
