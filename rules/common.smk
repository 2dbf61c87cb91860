"""What rules need of the configuration and of Snakemake: the grid, and functions of wildcards."""

import atexit
import json
import shutil

from snakemake.io import contains_wildcard
from snakemake.settings.types import Quietness

from automata.config.files import read_experiments
from automata.grid import Grid, alternatives
from automata.config.inputs import files_of
from automata.errors import UserError
from automata.expected import expected
from automata.files import fingerprint
from automata.outputs import Outputs
from automata.runs import STEM as RUN

WHOLE_MACHINE = (
    9999  # more than any has: nothing else of a call runs beside a measured job
)
READERS = 4  # processes that read records, or draw figures

if not (os.access(os.curdir, os.W_OK) or os.path.isdir(".snakemake")):
    sys.exit(f"{os.getcwd()}: read-only: name another folder by --directory")

# Where the user's own modules are looked for.
SEARCHED = [str(ROOT / "src"), os.getcwd()]
SEARCHED += os.environ.get("PYTHONPATH", "").split(":")

try:
    if str(DEFAULTS) in map(str, workflow.configfiles):
        said = workflow.config_settings
        given = [DEFAULTS, *(Path(str(file)) for file in said.configfiles)]
        PARTS = read_experiments(given, said.config)
    else:  # a module of another Snakefile, whose `config:` is ours
        PARTS = read_experiments([DEFAULTS], of_module=config)
    GRID = Grid(PARTS, SEARCHED + sys.path)
except UserError as error:
    sys.exit(str(error))

# The environment reaches jobs, Ray's workers in them and, as they parse this too, jobs of a
# cluster. A module beside the data, which may be a stranger's, is for jobs of own code alone. What
# decides nothing about data sets and records goes this way, so that it is no parameter of a job.
if not GRID.names_code:
    SEARCHED.remove(os.getcwd())
os.environ.update(
    PYTHONPATH=":".join(dict.fromkeys(filter(None, SEARCHED))),
    PYTHONSAFEPATH="1",
    AUTOMATA_DATA_CACHE=GRID.shared.data.cache,
    AUTOMATA_DATA_MIRROR=GRID.shared.data.mirror or "",
    AUTOMATA_RAY_ADDRESS=GRID.shared.ray.address or "",
    AUTOMATA_MODEL_ROWS=GRID.shared.models.rows,
)

OUTPUTS = Outputs(GRID)
EXPERIMENT = GRID.shared.experiment
ARCHIVES = GRID.archives
TABLES = f"{OUTPUTS.folder}/tables"
FIGURES = f"{OUTPUTS.folder}/figures"


def allow_repeats():
    """Let jobs repeat the finished runs that Snakemake was told to force; others stay."""
    asked = workflow.dag_settings
    every = asked.forceall or {"tune", "tune_and_keep"} & set(asked.forcerun)
    named = [*asked.forcerun, *(asked.targets if asked.forcetargets else [])]
    os.environ.update(AUTOMATA_AGAIN="all" if every else "\n".join(map(str, named)))
    # Copies of records from a call that was killed: a record deleted since would come back.
    shutil.rmtree(".snakemake/backups/results/runs", ignore_errors=True)


def at_end(lines):
    """Print what `lines` returns at the very end: Snakemake has more to say after its hooks."""
    if Quietness.ALL not in (workflow.output_settings.quiet or ()):
        atexit.register(lambda: [print(it, file=sys.stderr) for it in lines() if it])


def as_json(value):
    """Return a parameter in JSON, by a function: Snakemake would take its braces for wildcards."""
    text = json.dumps(value, default=lambda section: section.model_dump(mode="json"))
    return lambda wildcards: text


def content(*names):
    """Return what changes with the content of these shipped files, and not with their dates."""
    paths = [CONFIG / f"{name}.yaml" for name in names]
    return fingerprint({path.name: path.read_text(encoding="utf-8") for path in paths})


def own_files(wildcards):
    """Return the user's own files that a data set is made from; none with a wildcard in its name."""
    found = [
        str(it) for path in GRID.own_files(wildcards.dataset) for it in files_of(path)
    ]
    return [ancient(file) for file in found if not contains_wildcard(file)]


def part(wildcards):
    """Return the part of the experiment that a run belongs to."""
    return GRID.experiment_of(wildcards.dataset)


def of_part(get):
    """Return what `get` says of a run's part: a value if all agree, as functions take longer."""
    values = [get(it) for it in GRID.parts]
    same = values.count(values[0]) == len(values)
    return values[0] if same else lambda wildcards: get(part(wildcards))


def on_cluster():
    """Say whether this call submits jobs, or is what a submitted job runs."""
    return workflow.remote_exec or not workflow.local_exec


def threads_of_run(wildcards):
    """Return the threads of a measured job: the whole machine, on a cluster what its trials use."""
    compute = part(wildcards).compute
    used = compute.concurrent_trials * compute.threads_per_trial
    return used if on_cluster() else WHOLE_MACHINE
