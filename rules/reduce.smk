"""From records to tables. The folder of an experiment is {experiment}."""

# What tables, figures and the page of an experiment are made from, in its folder.
TABLES = {
    "runs": "results/{experiment}/tables/runs.parquet",
    "trials": "results/{experiment}/tables/trials.parquet",
    "protocols": "results/{experiment}/tables/protocols.json",
    "ratios": "results/{experiment}/tables/ratios.csv",
    "tradeoff": "results/{experiment}/tables/tradeoff.csv",
    "untuned": "results/{experiment}/tables/untuned.csv",
    "differences": "results/{experiment}/tables/differences.csv",
}

# Where and with what the runs of an experiment were made; nothing else is made from these.
PROVENANCE = (
    "results/{experiment}/tables/provenance.csv",
    "results/{experiment}/tables/provenance.md",
)

# Files of the project that reductions read, wherever it lies. A checkout gives them new dates, so
# that rules take them as ancient and have what is in them among their parameters.
HERE = Path("config") if Path.cwd() == ROOT.resolve() else CONFIG
PROTOCOLS = [
    HERE / f"{name}.yaml" for name in ("config", "paper", "tabular", "text", "image")
]
CLAIMS = HERE / "claims.yaml"

# Processes that read records, thousands of which take long enough to share.
READERS = 4


wildcard_constraints:
    experiment=EXPERIMENT,


rule unpack:
    input:
        ARCHIVES,
    output:
        directory(f"results/{EXPERIMENT}/records"),
    log:
        f"logs/{EXPERIMENT}/unpack.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Unpacking published records"
    shell:
        """
        rm -rf {output:q}.unfinished
        python -m automata unpack {input:q} --as-named --output {output:q}.unfinished > {log:q} 2>&1
        mv {output:q}.unfinished {output:q}
        """


rule collect:
    input:
        records,
    output:
        csv="results/{experiment}/tables/runs.csv",
        parquet="results/{experiment}/tables/runs.parquet",
        trials="results/{experiment}/tables/trials.parquet",
        protocols="results/{experiment}/tables/protocols.json",
        provenance="results/{experiment}/tables/provenance.csv",
    log:
        "logs/{experiment}/collect.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: READERS
    params:
        comparison=as_json(GRID.shared.comparison),
    message:
        "Collecting the table of runs of {wildcards.experiment}"
    shell:
        """
        python -m automata collect {input:q} \
            --processes {threads} \
            --comparison {params.comparison:q} \
            --csv {output.csv:q} \
            --parquet {output.parquet:q} \
            --trials {output.trials:q} \
            --protocols {output.protocols:q} \
            --provenance {output.provenance:q} 2>&1 | tee {log:q}
        """


rule tabulate_tradeoff:
    input:
        "results/{experiment}/tables/runs.parquet",
    output:
        ratios="results/{experiment}/tables/ratios.csv",
        csv="results/{experiment}/tables/tradeoff.csv",
        markdown="results/{experiment}/tables/tradeoff.md",
        untuned="results/{experiment}/tables/untuned.csv",
    log:
        "logs/{experiment}/tabulate_tradeoff.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        carbon=as_json(GRID.shared.carbon),
    message:
        "Comparing the runs with FULL"
    shell:
        """
        python -m automata tradeoff {input:q} \
            --carbon {params.carbon:q} \
            --ratios {output.ratios:q} \
            --csv {output.csv:q} \
            --markdown {output.markdown:q} \
            --untuned {output.untuned:q} > {log:q} 2>&1
        """


rule choose_best:
    input:
        "results/{experiment}/tables/runs.parquet",
    output:
        "results/{experiment}/best.yaml",
    log:
        "logs/{experiment}/choose_best.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Choosing the best hyper-parameters"
    shell:
        """
        python -m automata best {input:q} --output {output:q} > {log:q} 2>&1
        """


rule tabulate_energy:
    input:
        "results/{experiment}/tables/runs.parquet",
    output:
        csv="results/{experiment}/tables/energy.csv",
        markdown="results/{experiment}/tables/energy.md",
    log:
        "logs/{experiment}/tabulate_energy.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        carbon=as_json(GRID.shared.carbon),
    message:
        "Adding up energy and CO2"
    shell:
        """
        python -m automata energy {input:q} \
            --carbon {params.carbon:q} \
            --csv {output.csv:q} \
            --markdown {output.markdown:q} > {log:q} 2>&1
        """


rule tabulate_differences:
    input:
        runs=TABLES["runs"],
        protocols=TABLES["protocols"],
        protocol=ancient(map(str, PROTOCOLS)),
    output:
        "results/{experiment}/tables/differences.csv",
    log:
        "logs/{experiment}/tabulate_differences.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        content=content(*PROTOCOLS),
    message:
        "Comparing the protocol with the paper's"
    shell:
        """
        python -m automata differences results/{wildcards.experiment:q}/tables \
            --defaults {input.protocol[0]:q} \
            --paper {input.protocol[1]:q} \
            --csv {output:q} > {log:q} 2>&1
        """


rule check_claims:
    input:
        **TABLES,
        claims=ancient(str(CLAIMS)),
    output:
        csv=report(
            "results/{experiment}/tables/claims.csv",
            caption="../workflow/report/claims.rst",
            category="Claims",
            labels={"table": "claims"},
        ),
        markdown="results/{experiment}/tables/claims.md",
    log:
        "logs/{experiment}/check_claims.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        content=content(CLAIMS),
    message:
        "Confronting the paper's claims with the runs"
    shell:
        """
        python -m automata claims results/{wildcards.experiment:q}/tables \
            --claims {input.claims:q} \
            --csv {output.csv:q} \
            --markdown {output.markdown:q} > {log:q} 2>&1
        """


rule tabulate_studies:
    input:
        **TABLES,
    output:
        collect(
            "results/{{experiment}}/tables/{name}",
            name=[name for name, table in ALL_TABLES.items() if table.make],
        ),
        "results/{experiment}/tables/overview.md",
    log:
        "logs/{experiment}/tabulate_studies.log",
    priority: 1
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Tabulating what the paper does not show"
    shell:
        """
        python -m automata studies results/{wildcards.experiment:q}/tables \
            --output results/{wildcards.experiment:q}/tables > {log:q} 2>&1
        """


rule tabulate_provenance:
    input:
        PROVENANCE[0],
    output:
        PROVENANCE[1],
    log:
        "logs/{experiment}/tabulate_provenance.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    message:
        "Summing up what made the runs"
    shell:
        """
        python -m automata provenance {input:q} --markdown {output:q} > {log:q} 2>&1
        """


rule provenance:
    input:
        collect(PROVENANCE, experiment=EXPERIMENT),
    message:
        f"What made the runs is in results/{EXPERIMENT}/tables/provenance.md"


rule tables:
    input:
        OUTPUTS.tables,
