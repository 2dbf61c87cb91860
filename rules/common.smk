"""What rules need of the configuration and of Snakemake: its call, its wildcards, its cluster."""

import json
import shutil
from collections import Counter

from snakemake.io import contains_wildcard

from automata.allocation import gpus_of_host
from automata.config.files import read_experiments
from automata.grid import Grid, alternatives
from automata.config.inputs import files_of
from automata.errors import UserError
from automata.files import fingerprint
from automata.outputs import Outputs
from automata.runs import MODEL, Place
from automata.runs import STEM as RUN
from automata.views import FIGURE, OF_DATASET, PAPER, STUDIES
from automata.views import TABLES as ALL_TABLES

# More than any machine has: Snakemake gives what --cores says, so that no other job of its
# call runs beside a measured one.
WHOLE_MACHINE = 9999

# Where the user's own modules are looked for.
SEARCHED = [
    str(ROOT / "src"),
    os.getcwd(),
    *os.environ.get("PYTHONPATH", "").split(":"),
]


def read_grid():
    """Return the grid; end with one line, before any job, if something is wrong with it."""
    settings = workflow.config_settings
    try:
        if str(DEFAULTS) in map(str, workflow.configfiles):
            files = [DEFAULTS, *(Path(str(file)) for file in settings.configfiles)]
            parts = read_experiments(files, settings.config)
        else:  # a module of another Snakefile, whose `config:` is ours
            parts = read_experiments([DEFAULTS], of_module=config)
        return Grid(parts, SEARCHED + sys.path)
    except UserError as error:
        sys.exit(str(error))


GRID = read_grid()

# Reaches the jobs, Ray's workers in them and, as every cluster job parses this too, those. A module
# beside the data, which may be a stranger's, is for jobs of own code alone; Ray adds the folder to
# its workers' path all the same.
if not GRID.names_code:
    SEARCHED.remove(os.getcwd())
os.environ.update(
    PYTHONPATH=":".join(dict.fromkeys(filter(None, SEARCHED))), PYTHONSAFEPATH="1"
)

OUTPUTS = Outputs(GRID)
CURVES = {path.removesuffix(".json"): job for path, job in GRID.curves.items()}
CURVES_READ = [f"results/curves/{path}" for path in GRID.recorded_curves]
EXPERIMENT = GRID.shared.experiment
ARCHIVES = GRID.archives

# Where files were had from goes through the environment, so that it is no parameter of `prepare`:
# it never changes what is in a data set. Where trials run, and what a kept model is trained on, go
# the same way: they are no settings of a run.
os.environ.update(
    AUTOMATA_DATA_CACHE=GRID.shared.data.cache,
    AUTOMATA_DATA_MIRROR=GRID.shared.data.mirror or "",
    AUTOMATA_RAY_ADDRESS=GRID.shared.ray.address or "",
    AUTOMATA_MODEL_ROWS=GRID.shared.models.rows,
)


def allow_repeats():
    """Let jobs repeat the finished runs that Snakemake was told to force; others stay.

    Jobs have it from the environment, those of a cluster from that of the call that submits them.
    What Snakemake kept aside of records while a call was killed would come back where one has been
    deleted since.
    """
    asked = workflow.dag_settings
    every = asked.forceall or {"tune", "tune_and_keep"} & set(asked.forcerun)
    named = [*asked.forcerun, *(asked.targets if asked.forcetargets else [])]
    os.environ.update(AUTOMATA_AGAIN="all" if every else "\n".join(map(str, named)))
    shutil.rmtree(".snakemake/backups/results/runs", ignore_errors=True)


def answers():
    """Return the files that the last line names, if they were asked for."""
    asked = workflow.dag_settings.targets
    return OUTPUTS.answers if not asked or "all" in asked else []


SCREEN.answers = answers
if GRID.kept and len(GRID.datasets) == 1:
    SCREEN.command = (
        f"automata predict results/{EXPERIMENT} NEWROWS --output predictions.csv"
    )


def announce():
    """Say how many runs there are of each data set, or where records are had from."""
    if ARCHIVES:
        logger.info(f"records from {', '.join(ARCHIVES)}")
        return
    for dataset, count in Counter(place.dataset for place in GRID.runs).items():
        logger.info(f"{dataset}: {count} runs")
    wanted = any(part.compute.device == "cuda" for part in GRID.parts)
    if wanted and not on_cluster() and gpus_of_host() == 0:
        logger.warning("compute.device: cuda: NVML knows no GPU on this machine")


def as_is(text):
    """Return a parameter that Snakemake does not search for wildcards: JSON has braces, too."""
    return lambda wildcards: text


def flag(name, values):
    """Return a flag of a command with its values; nothing where there are none."""
    return [name, *values] if values else []


def as_json(section):
    """Return a section of the configuration as a parameter."""
    return as_is(json.dumps(section.model_dump(mode="json"), sort_keys=True))


def content(*paths):
    """Return what changes with the content of any of these files."""
    return fingerprint({path.name: path.read_text(encoding="utf-8") for path in paths})


def own_files(wildcards):
    """Return the user's own files that a data set is made from; of a folder all its images.

    Their content is in the name of the prepared file: a touched one means the same. Snakemake
    would take some names for wildcards; these files are left out.
    """
    paths = GRID.own_files(wildcards.dataset)
    files = [str(file) for path in paths for file in files_of(path)]
    return [ancient(file) for file in files if not contains_wildcard(file)]


def job_of_run(wildcards):
    """Return what the jobs of a cell read."""
    names = ("dataset", "search", "scheduler", "selector")
    return GRID.job(*(wildcards[name] for name in names))


def records(wildcards):
    """Return the records of all runs, or the folder of those that were published."""
    return f"results/{EXPERIMENT}/records" if ARCHIVES else GRID.records


def existing_records(wildcards):
    """Return those that are there, as a parameter: as inputs they would start the other runs."""
    if ARCHIVES:
        return [records(wildcards)]
    return list(filter(os.path.exists, GRID.records)) or GRID.records[:1]


def figure_on_page(wildcards):
    """Return the figure that the page of an experiment shows, where it is drawn."""
    figure = f"results/{wildcards.experiment}/figures/{FIGURE}.png"
    return [figure] if figure in OUTPUTS.figures else []


def on_cluster():
    """Say whether this call submits jobs, or is what a submitted job runs."""
    return workflow.remote_exec or not workflow.local_exec


def threads_of_run(wildcards):
    """Return the threads of a measured job: the whole machine, on a cluster what its trials use."""
    compute = GRID.experiment_of(wildcards.dataset).compute
    used = compute.concurrent_trials * compute.threads_per_trial
    return used if on_cluster() else WHOLE_MACHINE


def request(key):
    """Return what measured jobs ask a cluster for: a value, a function where parts differ in it."""
    values = [getattr(part.job, key) for part in GRID.parts]

    def of_run(wildcards):
        return getattr(GRID.experiment_of(wildcards.dataset).job, key)

    return values[0] if values.count(values[0]) == len(values) else of_run


def growing(key):
    """Return what a measured job asks for: each attempt twice that of the one before."""

    def of_attempt(wildcards, attempt):
        asked = GRID.experiment_of(wildcards.dataset).job
        return getattr(asked, key) * 2 ** (attempt - 1)

    return of_attempt


def node_of_its_own(wildcards):
    """Return sbatch's option for an exclusive job: nothing else runs on its node."""
    alone = GRID.experiment_of(wildcards.dataset).metering.exclusive
    return "--exclusive" if alone else None
