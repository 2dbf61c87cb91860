"""The grid of runs and the helpers of the rules. Parsing needs Snakemake alone."""

import json
import shutil
from collections import Counter
from functools import cache, reduce
from itertools import product
from operator import getitem
from pathlib import Path

from automata.allocation import gpus_of_host
from automata.code_versions import EQUIVALENCES, code_versions
from automata.errors import UserError
from automata.experiments.files import ConfigFiles
from automata.experiments.schema_errors import dotted
from automata.experiments.inputs import (
    FACTORY,
    Contents,
    contents_of,
    data_files,
    files_of,
    problems_of_files,
)
from automata.experiments.settings import fingerprint
from automata.runs import (
    STEM,
    job_of,
    labels,
    number,
    place_of,
    preparation_for,
    records_below,
)
from automata.names import METHODS
from automata.selection import CONTROLS
from automata.tuning import SCHEDULERS, SEARCHES
from automata.views import FIGURE, OF_DATASET, PAPER, STUDIES, figures
from automata.views import TABLES as ALL_TABLES

# The path of a run, for its record, log, benchmark and unfinished work.
RUN = STEM

# Every axis of the grid, in the order of the paths, and its key in the configuration.
AXES = {
    "dataset": "datasets",
    "search": "searches",
    "scheduler": "schedulers",
    "selector": "selectors",
    "fraction": "fractions",
    "seed": "seeds",
}

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
HERE = Path() if Path.cwd() == ROOT.resolve() else ROOT
PROTOCOLS = [
    HERE / "config" / f"{name}.yaml"
    for name in ("config", "paper", "tabular", "text", "image")
]
SCHEMA = HERE / "config/schema.json"
CLAIMS = HERE / "config/claims.yaml"

# The experiment that is made of all records there are, whichever configuration they are of.
SO_FAR = "so-far"

# More than any machine has: Snakemake gives what --cores says, so that no other job of its
# call runs beside a measured one.
WHOLE_MACHINE = 9999

# Processes that read records, thousands of which take long enough to share.
READERS = 4

# Reaches the jobs, Ray's workers in them and, as every cluster job parses this too, those. The
# working directory is there for the user's own models.
SEARCHED = [
    str(ROOT / "src"),
    os.getcwd(),
    *os.environ.get("PYTHONPATH", "").split(":"),
]
os.environ.update(PYTHONPATH=":".join(dict.fromkeys(filter(None, SEARCHED))))


def read_experiments():
    """Return the configuration of each part; end with one line, before any job, if one is wrong."""
    settings = workflow.config_settings
    files = [workflow.configfiles[-1], *settings.configfiles]
    schema = ROOT / "config" / "schema.json"
    try:
        return ConfigFiles(
            [Path(str(file)) for file in files], settings.config or {}, schema
        ).experiments()
    except UserError as error:
        sys.exit(str(error))


EXPERIMENTS = read_experiments()


def shared(*path):
    """Return what all parts have in common at a key; end with one line if one has another value."""
    values = [reduce(getitem, path, experiment) for experiment in EXPERIMENTS]
    if any(value != values[0] for value in values):
        sys.exit(f"{'.'.join(path)}: must be the same in all parts")
    return values[0]


# Where files are had from goes through the environment, so that it is no parameter of `prepare`:
# it never changes what is in a data set. Where trials run goes the same way: it is no setting
# of a run.
os.environ.update(
    AUTOMATA_DATA_CACHE=shared("data", "cache"),
    AUTOMATA_DATA_MIRROR=shared("data", "mirror") or "",
    AUTOMATA_RAY_ADDRESS=shared("ray", "address") or "",
)

# Published records, from which all is made again: no run is started for it.
ARCHIVES = shared("archives")

# Parts of an experiment share its folder.
EXPERIMENT = shared("experiment")
if EXPERIMENT in (SO_FAR, "data", "downloads", "reference", "runs", "work"):
    sys.exit(f"experiment: {EXPERIMENT} is the name of another folder in results/")

# One table has the CO2 of all runs, so that it rests on one set of assumptions.
CARBON = json.dumps(shared("carbon"), sort_keys=True)

# And one comparison, of which runs compare.
COMPARISON = json.dumps(shared("comparison"), sort_keys=True)


def allow_repeats():
    """Let jobs repeat the finished runs that Snakemake was told to force; others stay.

    Jobs have it from the environment, those of a cluster from that of the call that submits them.
    What Snakemake kept aside of records while a call was killed would come back where one has been
    deleted since.
    """
    asked = workflow.dag_settings
    every = asked.forceall or "tune" in asked.forcerun
    named = [*asked.forcerun, *(asked.targets if asked.forcetargets else [])]
    os.environ.update(AUTOMATA_AGAIN="all" if every else "\n".join(map(str, named)))
    shutil.rmtree(".snakemake/backups/results/runs", ignore_errors=True)


# The user's own files are read once, and again when they have changed.
CONTENTS = Contents(Path("results/data/contents.json"))


def preparation_settings(dataset):
    """Return the settings that decide what is in the prepared file of a data set."""
    return preparation_for(experiment_of(dataset), dataset)


def own_data(dataset):
    """Return the user's own files that a data set is made from, by their roles."""
    return data_files(preparation_settings(dataset))


@cache
def own_contents(dataset):
    """Return what is in the user's own files that runs of a data set read; end with one line.

    Published records need no such file.
    """
    if ARCHIVES:
        return {}
    experiment, search_path = experiment_of(dataset), SEARCHED + sys.path
    try:
        return contents_of(experiment, dataset, CONTENTS, search_path)
    except UserError as error:
        sys.exit(str(error))


def check_files():
    """End with one line if the user's own files are not there, or show that they cannot be used."""
    for path in ARCHIVES:
        if not Path(path).is_file():
            sys.exit(f"archives: {dotted([path])}: no such file")
    for experiment in [] if ARCHIVES else EXPERIMENTS:
        for dataset in experiment["datasets"]:
            for key, problem in problems_of_files(experiment, dataset):
                sys.exit(f"{key}: {problem}")


check_files()


def axis(experiment, name):
    """Return the values of a grid axis as strings, which is what wildcards are; 1.0 is "1"."""
    values = list(map(number, experiment[AXES[name]]))
    if name == "fraction":
        values += [str(control.fraction) for control in CONTROLS.values()]
    if name == "seed":
        values += [str(seed) for seed in experiment["untuned_seeds"] or []]
    return list(dict.fromkeys(values))


def one_of(name):
    """Return the wildcard constraint of a grid axis."""
    values = dict.fromkeys(
        value for experiment in EXPERIMENTS for value in axis(experiment, name)
    )
    return "|".join(re.escape(value) for value in values)


def is_run(experiment, run):
    """Say whether a cell of the grid is run.

    FULL takes all data and `untuned` none, the others the fractions that are listed; `untuned`
    is cheap and says something in large numbers only, so that it can have seeds of its own.
    """
    selector, fraction, seed = run["selector"], float(run["fraction"]), int(run["seed"])
    own = selector == "untuned" and experiment["untuned_seeds"]
    control = CONTROLS.get(selector)
    fits = fraction in ([control.fraction] if control else experiment["fractions"])
    return fits and seed in (own or experiment["seeds"])


@cache
def runs():
    """Return the places of the runs of the grid; values stay the strings of the paths."""
    cells = [
        (experiment, dict(zip(AXES, values)))
        for experiment in EXPERIMENTS
        for values in product(*(axis(experiment, name) for name in AXES))
    ]
    return [
        named(
            run["dataset"], run["search"], run["scheduler"], run["selector"]
        )._replace(fraction=run["fraction"], seed=run["seed"])
        for experiment, run in cells
        if is_run(experiment, run)
    ]


@cache
def job(dataset, search, scheduler, selector):
    """Return what all jobs of a cell read, whatever their fraction and seed."""
    run = {"dataset": dataset, "search": search, "scheduler": scheduler}
    run |= {"selector": selector, "seed": 0}
    run["fraction"] = CONTROLS[selector].fraction if selector in CONTROLS else 1.0
    return job_of(experiment_of(dataset), run, own_contents(dataset))


@cache
def named(dataset, search, scheduler, selector):
    """Return the place of a run of such a cell."""
    return place_of(job(dataset, search, scheduler, selector))


def of_runs(part):
    """Return the constraint of a wildcard that follows from settings, in a group: may be empty."""
    values = {getattr(place, part) for place in ([] if ARCHIVES else runs())}
    return f"(?:{'|'.join(map(re.escape, sorted(values)))})"


def records(wildcards):
    """Return the records of all runs, or the folder of those that were published."""
    if ARCHIVES:
        return f"results/{EXPERIMENT}/records"
    return [f"results/runs/{place.stem}/record.json" for place in runs()]


def content(*paths):
    """Return what changes with the content of any of these files, or folders of files."""
    files = [
        file
        for path in paths
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]
    return fingerprint({file.name: file.read_text(encoding="utf-8") for file in files})


@cache
def found():
    """Return the records of all runs there are, of this or any other configuration, by path."""
    return records_below(Path("results/runs"))


@cache
def labels_of_found():
    """Return what tables of all records call the data set of each run; see `automata.runs`."""
    every = {str(path): place for path, place in found().items() if place}
    configured = [
        named(dataset, *cell)
        for experiment in ([] if ARCHIVES else EXPERIMENTS)
        for dataset in experiment["datasets"]
        for cell in product(SEARCHES, SCHEDULERS, METHODS)
    ]
    names = labels(every.values(), configured)
    return {path: names[place] for path, place in every.items()}


def other_labels(wildcards):
    """Return the labels that are not just the name of the data set, as JSON."""
    names = labels_of_found()
    of = {str(path): place for path, place in found().items() if place}
    other = {path: name for path, name in names.items() if name != of[path].dataset}
    return json.dumps(other, sort_keys=True)


def version_of_found(wildcards):
    """Return what changes with any record there is: what is made of all is then made again."""
    return fingerprint({path: os.stat(path).st_mtime_ns for path in labels_of_found()})


def datasets_of(experiment):
    """Return the data sets that an experiment has figures of."""
    if experiment == SO_FAR:
        return list(dict.fromkeys(filter(None, labels_of_found().values())))
    return list(dict.fromkeys(place.dataset for place in runs()))


def plan_of(experiment):
    """Return the selectors of each panel; what archives hold is known when they are read."""
    if experiment == EXPERIMENT and ARCHIVES:
        panels = product(datasets_of(experiment), SEARCHES, SCHEDULERS)
        return dict.fromkeys(panels, METHODS)
    plan = {}
    for place in runs() if experiment == EXPERIMENT else filter(None, found().values()):
        panel = place.dataset, place.search, place.scheduler
        plan.setdefault(panel, set()).add(place.selector)
    return plan


def figures_of(experiment):
    """Return the figures of an experiment, as pixels: those that would show something."""
    folder = f"results/{experiment}/figures"
    return [f"{folder}/{name}.png" for name in figures(plan_of(experiment))] + [
        f"{folder}/{name}/{dataset}.png"
        for name in OF_DATASET
        for dataset in datasets_of(experiment)
    ]


def kind_of_figure(wildcards):
    """Return the chapter of the report that a figure belongs to."""
    return "The paper's figures" if wildcards.figure in PAPER else "Beyond the paper"


def caption(wildcards):
    """Return the caption of a figure."""
    return (PAPER | STUDIES)[wildcards.figure].caption


def labels_with_figures():
    """Return the constraint of the data sets that figures are of, other protocols included."""
    labels = {*datasets_of(EXPERIMENT), *datasets_of(SO_FAR)}
    return f"(?:{'|'.join(map(re.escape, sorted(labels)))})"


def tables_of(experiment):
    """Return the tables of an experiment."""
    return [f"results/{experiment}/tables/{name}" for name in ALL_TABLES]


def made_of(experiment):
    """Return all that is made of the records of an experiment."""
    figures = figures_of(experiment)
    return [
        *tables_of(experiment),
        *figures,
        *(path.removesuffix("png") + "pdf" for path in figures),
        f"results/{experiment}/index.html",
    ]


def tables_on_page(wildcards):
    """Return the tables that the page of an experiment is made from, or names."""
    return tables_of(wildcards.experiment)


def figures_on_page(wildcards):
    """Return the figure that the page of an experiment shows, where it is drawn."""
    experiment = wildcards.experiment
    figure = f"results/{experiment}/figures/{FIGURE}.png"
    return [figure] if figure in figures_of(experiment) else []


def announce():
    """Say how many runs there are of each data set, or where records are had from."""
    if ARCHIVES:
        logger.info(f"records from {', '.join(ARCHIVES)}")
        return
    for dataset, count in Counter(place.dataset for place in runs()).items():
        logger.info(f"{dataset}: {count} runs")
    wanted = any(e["compute"]["device"] == "cuda" for e in EXPERIMENTS)
    here = not on_cluster() and not shared("ray", "address")
    if wanted and here and gpus_of_host() == 0:
        logger.warning("compute.device: cuda: NVML knows no GPU on this machine")
    old = sum(place is None for place in found().values())
    if old:
        logger.warning(
            f"results/runs has {old} records of an earlier version, which are not found where "
            "they lie: `automata runs --adopt` moves them"
        )


def experiment_of(dataset):
    """Return the configuration that a data set belongs to."""
    return next(e for e in EXPERIMENTS if dataset in e["datasets"])


def own_files(wildcards):
    """Return the user's own files that a data set is made from; of a folder all its images.

    Their content is in the name of the prepared file: a touched one means the same.
    """
    paths = map(Path, own_data(wildcards.dataset).values())
    return [ancient(str(file)) for path in paths for file in files_of(path)]


def preparation(wildcards):
    """Return the settings that decide what is in a prepared file, as JSON."""
    return json.dumps(preparation_settings(wildcards.dataset), sort_keys=True)


def contents_of_data(dataset):
    """Return what is in the user's own files that a prepared file is made from."""
    contents = own_contents(dataset)
    return {role: contents[role] for role in contents if role != FACTORY}


def data_contents(wildcards):
    """Return the same, as JSON."""
    return json.dumps(contents_of_data(wildcards.dataset), sort_keys=True)


def version(dataset):
    """Return what tells apart the prepared files of a data set: other settings, other content."""
    settings, contents = preparation_settings(dataset), contents_of_data(dataset)
    files = {"files": contents} if contents else {}
    return f"-{fingerprint(settings | files)}" if settings else ""


def versions():
    """Return the wildcard constraint of `version`, in a group: an empty one would be none."""
    datasets = [] if ARCHIVES else [d for e in EXPERIMENTS for d in e["datasets"]]
    return f"(?:{'|'.join(map(re.escape, sorted(map(version, datasets))))})"


def prepared(wildcards):
    """Return the prepared file of a data set; prepared again, it means the same."""
    dataset = wildcards.dataset
    return ancient(f"results/data/{dataset}{version(dataset)}.safetensors")


def settings(wildcards):
    """Return exactly the settings that a run reads, as JSON: they name its path."""
    return json.dumps(
        job_at(wildcards).settings.model_dump(mode="json"), sort_keys=True
    )


def contents(wildcards):
    """Return what is in the user's own files that a run reads, as JSON: it names its path, too."""
    return json.dumps(job_at(wildcards).files, sort_keys=True)


def job_at(wildcards):
    """Return what the jobs of a cell read."""
    names = ("dataset", "search", "scheduler", "selector")
    return job(*(wildcards[name] for name in names))


def comparison(wildcards):
    """Return which runs compare, as JSON."""
    return COMPARISON


def code(wildcards):
    """Return the versions of the code that makes records, and which are declared equal.

    Tables name the records of other code.
    """
    equal = sorted((e.part, e.new, e.old, *sorted(e.covers)) for e in EQUIVALENCES)
    return json.dumps([code_versions(), equal], sort_keys=True)


def carbon(wildcards):
    """Return what CO2 is computed from, as JSON."""
    return CARBON


def on_cluster():
    """Say whether this call submits jobs, or is what a submitted job runs."""
    return workflow.remote_exec or not workflow.local_exec


def threads_of_run(wildcards):
    """Return the threads of a measured job: the whole machine, on a cluster what its trials use."""
    compute = experiment_of(wildcards.dataset)["compute"]
    used = compute["concurrent_trials"] * compute["threads_per_trial"]
    return used if on_cluster() else WHOLE_MACHINE


def request(key):
    """Return what measured jobs ask a cluster for: a value, a function where parts differ in it."""
    values = [experiment["job"][key] for experiment in EXPERIMENTS]

    def of_run(wildcards):
        return experiment_of(wildcards.dataset)["job"][key]

    return values[0] if values.count(values[0]) == len(values) else of_run


def growing(key):
    """Return what a measured job asks for: each attempt twice that of the one before."""

    def of_attempt(wildcards, attempt):
        return experiment_of(wildcards.dataset)["job"][key] * 2 ** (attempt - 1)

    return of_attempt


def node_of_its_own(wildcards):
    """Return sbatch's option for an exclusive job: nothing else runs on its node."""
    alone = experiment_of(wildcards.dataset)["metering"]["exclusive"]
    return "--exclusive" if alone else None
