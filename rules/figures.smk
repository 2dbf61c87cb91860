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
            labels=PANEL,
        ),
    log:
        "logs/plot_tradeoff/{dataset}/{search}-{scheduler}.log",
    conda:
        "../envs/automata.yaml"
    params:
        ratio="speedup",
    message:
        "Drawing the tradeoff of {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler}"
    shell:
        """
        python -m automata plot-tradeoff {input} \
            --dataset {wildcards.dataset} \
            --search {wildcards.search} \
            --scheduler {wildcards.scheduler} \
            --ratio {params.ratio} \
            --pdf {output.pdf} \
            --png {output.png} > {log} 2>&1
        """


use rule plot_tradeoff as plot_energy with:
    output:
        pdf="results/figures/energy/{dataset}/{search}-{scheduler}.pdf",
        png=report(
            "results/figures/energy/{dataset}/{search}-{scheduler}.png",
            caption="../workflow/report/energy.rst",
            category="Energy",
            labels=PANEL,
        ),
    log:
        "logs/plot_energy/{dataset}/{search}-{scheduler}.log",
    params:
        ratio="energy_ratio",
    message:
        "Drawing the energy of {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler}"


use rule plot_tradeoff as plot_co2_measured with:
    output:
        pdf="results/figures/co2-measured/{dataset}/{search}-{scheduler}.pdf",
        png=report(
            "results/figures/co2-measured/{dataset}/{search}-{scheduler}.png",
            caption="../workflow/report/co2-measured.rst",
            category="CO2",
            labels={**PANEL, "from": "energy"},
        ),
    log:
        "logs/plot_co2_measured/{dataset}/{search}-{scheduler}.log",
    params:
        ratio="co2_measured_ratio",
    message:
        "Drawing the CO2 from energy of {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler}"


use rule plot_tradeoff as plot_co2_time with:
    output:
        pdf="results/figures/co2-time/{dataset}/{search}-{scheduler}.pdf",
        png=report(
            "results/figures/co2-time/{dataset}/{search}-{scheduler}.png",
            caption="../workflow/report/co2-time.rst",
            category="CO2",
            labels={**PANEL, "from": "time"},
        ),
    log:
        "logs/plot_co2_time/{dataset}/{search}-{scheduler}.log",
    params:
        ratio="co2_time_ratio",
    message:
        "Drawing the CO2 from time of {wildcards.dataset} with {wildcards.search} and {wildcards.scheduler}"


rule figures:
    input:
        panels,
