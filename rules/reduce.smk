"""From records to tables. The folder of an experiment is {experiment}."""


wildcard_constraints:
    experiment=f"{EXPERIMENT}|{SO_FAR}",


rule collect:
    input:
        records,
    output:
        csv=f"results/{EXPERIMENT}/tables/runs.csv",
        parquet=f"results/{EXPERIMENT}/tables/runs.parquet",
        trials=f"results/{EXPERIMENT}/tables/trials.parquet",
        protocols=f"results/{EXPERIMENT}/tables/protocols.json",
    log:
        f"logs/{EXPERIMENT}/collect.log",
    conda:
        "../envs/automata.yaml"
    threads: READERS
    message:
        "Collecting the table of runs"
    shell:
        """
        python -m automata collect {input} \
            --processes {threads} \
            --csv {output.csv} \
            --parquet {output.parquet} \
            --trials {output.trials} \
            --protocols {output.protocols} > {log} 2>&1
        """


# Takes the records as they lie there, and starts no run to get more or newer ones.
rule collect_so_far:
    output:
        csv=f"results/{SO_FAR}/tables/runs.csv",
        parquet=f"results/{SO_FAR}/tables/runs.parquet",
        trials=f"results/{SO_FAR}/tables/trials.parquet",
        protocols=f"results/{SO_FAR}/tables/protocols.json",
    log:
        f"logs/{SO_FAR}/collect.log",
    conda:
        "../envs/automata.yaml"
    threads: READERS
    params:
        version=version_of_found,
    message:
        "Collecting the table of all runs so far"
    shell:
        """
        python -m automata collect results/runs \
            --processes {threads} \
            --csv {output.csv} \
            --parquet {output.parquet} \
            --trials {output.trials} \
            --protocols {output.protocols} > {log} 2>&1
        """


rule tabulate_tradeoff:
    input:
        "results/{experiment}/tables/runs.parquet",
    output:
        ratios="results/{experiment}/tables/ratios.csv",
        csv="results/{experiment}/tables/tradeoff.csv",
        markdown="results/{experiment}/tables/tradeoff.md",
        latex="results/{experiment}/tables/tradeoff.tex",
        untuned="results/{experiment}/tables/untuned.csv",
    log:
        "logs/{experiment}/tabulate_tradeoff.log",
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
            --markdown {output.markdown} \
            --latex {output.latex} \
            --untuned {output.untuned} > {log} 2>&1
        """


rule tabulate_energy:
    input:
        "results/{experiment}/tables/runs.parquet",
    output:
        csv="results/{experiment}/tables/energy.csv",
        markdown="results/{experiment}/tables/energy.md",
    log:
        "logs/{experiment}/tabulate_energy.log",
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


rule tabulate_differences:
    input:
        runs=TABLES["runs"],
        protocols=TABLES["protocols"],
        protocol=ancient(map(str, PROTOCOLS)),
        schema=ancient(str(SCHEMA)),
    output:
        "results/{experiment}/tables/differences.csv",
    log:
        "logs/{experiment}/tabulate_differences.log",
    conda:
        "../envs/automata.yaml"
    params:
        content=content(*PROTOCOLS, SCHEMA),
    message:
        "Comparing the protocol with the paper's"
    shell:
        """
        python -m automata differences results/{wildcards.experiment}/tables \
            --defaults {input.protocol[0]} \
            --paper {input.protocol[1]} \
            --schema {input.schema} \
            --csv {output} > {log} 2>&1
        """


rule check_claims:
    input:
        **TABLES,
        claims=ancient(str(CLAIMS)),
    output:
        csv="results/{experiment}/tables/claims.csv",
        markdown="results/{experiment}/tables/claims.md",
        html=report(
            "results/{experiment}/tables/claims.html",
            caption="../workflow/report/claims.rst",
            category="Claims",
            labels={"table": "claims"},
        ),
    log:
        "logs/{experiment}/check_claims.log",
    conda:
        "../envs/automata.yaml"
    params:
        content=content(CLAIMS),
    message:
        "Confronting the paper's claims with the runs"
    shell:
        """
        python -m automata claims results/{wildcards.experiment}/tables \
            --claims {input.claims} \
            --csv {output.csv} \
            --markdown {output.markdown} \
            --html {output.html} > {log} 2>&1
        """


rule tabulate_studies:
    input:
        **TABLES,
    output:
        collect("results/{{experiment}}/tables/{name}.csv", name=STUDY_TABLES),
    log:
        "logs/{experiment}/tabulate_studies.log",
    conda:
        "../envs/automata.yaml"
    message:
        "Tabulating what the paper does not show"
    shell:
        """
        python -m automata studies results/{wildcards.experiment}/tables \
            --output results/{wildcards.experiment}/tables > {log} 2>&1
        """


rule tables:
    input:
        tables_of(EXPERIMENT),
