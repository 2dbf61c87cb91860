"""From records to tables.

Needs: the records of all runs, or archives of published ones.
Makes: results/{experiment}/tables/ and best.yaml beside it.
Steps: unpack archives; collect the table of runs; tabulate all others from it.
"""

from automata.files import fingerprint

# The claims about the paper repeat if the content of these files changes, whatever their dates.
NAMES = ("claims", "config", "paper", "tabular", "text", "image")
READ = [CONFIG / f"{name}.yaml" for name in NAMES]
# Tables, figures and the page are made again after an update of the code that makes them.
CODE = OUTPUTS.code


rule unpack:
    """Unpack published records into a folder of the experiment."""
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
        "python -m automata unpack {input:q} --as-named --output {output:q} > {log:q} 2>&1"


rule collect:
    """Make the tables of runs, trials and provenance from the records."""
    input:
        lambda wildcards: OUTPUTS.records,
    output:
        OUTPUTS.collected,
    log:
        f"logs/{EXPERIMENT}/collect.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    threads: READERS
    params:
        **CODE,
        experiment=EXPERIMENT,
        comparison=as_json(GRID.shared.comparison),
    message:
        f"Collecting the table of runs of {EXPERIMENT}"
    shell:
        """
        python -m automata collect {input:q} \
            --processes {threads} \
            --comparison {params.comparison:q} \
            --output results/{params.experiment:q}/tables 2>&1 | tee {log:q}
        """


rule tabulate:
    """Make all other tables of the catalogue (automata.analysis.views), and best.yaml."""
    input:
        OUTPUTS.collected,
        baselines=GRID.baselines,
    output:
        OUTPUTS.tabulated,
    log:
        f"logs/{EXPERIMENT}/tabulate.log",
    localrule: True
    conda:
        "../envs/automata.yaml"
    params:
        **CODE,
        experiment=EXPERIMENT,
        carbon=as_json(GRID.shared.carbon),
        claims=["--claims"] if OUTPUTS.claims else [],
        content=fingerprint({file.name: file.read_text("utf-8") for file in READ}),
    message:
        "Making the tables"
    shell:
        """
        python -m automata tabulate results/{params.experiment:q}/tables {params.claims:q} \
            --baselines {input.baselines:q} \
            --carbon {params.carbon:q} > {log:q} 2>&1
        """


rule tables:
    """Target: all tables."""
    input:
        OUTPUTS.tables,
