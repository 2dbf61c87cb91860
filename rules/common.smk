"""Reads the configuration as a grid of runs, and defines functions for the rules."""

import atexit
import json
import shutil

from snakemake.settings.types import Quietness

from automata.config.files import command, read_experiments
from automata.errors import UserError
from automata.experiment.grid import Grid, alternatives
from automata.experiment.outputs import Outputs, expected
from automata.records.paths import MODEL, STEM as RUN

# More threads than any machine has, so that no other job of this call runs beside a measured one.
WHOLE_MACHINE = 9999
INTERRUPTS = []  # not empty after Ctrl-C
READERS = 4  # processes that read records or draw figures

if not (os.access(os.curdir, os.W_OK) or os.path.isdir(".snakemake")):
    sys.exit(f"{os.getcwd()}: read-only: name another folder by --directory")

# Folders in which the user's own modules are searched.
SEARCHED = [str(ROOT / "src"), os.getcwd(), *os.getenv("PYTHONPATH", "").split(":")]

try:
    if str(DEFAULTS) in map(str, workflow.configfiles):
        # Snakemake takes a profile in the caller's folder unasked, in place of the project's. What
        # the profile itself may set, such as `mode` or `directory`, must not hide it.
        named = ("--workflow-profile", "--mode")  # by the user, or by the call of a job
        caller = Path(os.getenv("PWD", "") if workflow.overwrite_workdir else "")
        for profile in (caller / "default", caller / "profiles/default"):
            own = ROOT / "workflow" / profile.relative_to(caller)
            if profile.exists() and profile.resolve() != own.resolve():
                if not any(it.startswith(named) for it in sys.argv):
                    raise UserError(
                        f"{profile.absolute()}: a profile here can run code, and replaces the "
                        "project's: call from another folder, or name it by --workflow-profile"
                    )
        settings = workflow.config_settings
        configfiles = [DEFAULTS, *(Path(str(file)) for file in settings.configfiles)]
        PARTS = read_experiments(configfiles, settings.config)
    else:  # another Snakefile uses this one as a module, and sets `config`
        PARTS = read_experiments([DEFAULTS], config, "module config")
    GRID = Grid(PARTS, SEARCHED + sys.path)
except UserError as error:
    sys.exit(str(error))

# Jobs and Ray's workers inherit this environment; a change of it repeats no job. The working
# directory may have a stranger's modules: it is searched only if the configuration names own code.
if not GRID.names_code:
    SEARCHED.remove(os.getcwd())
OUTPUTS = Outputs(GRID)
os.environ.update(
    PYTHONPATH=":".join(dict.fromkeys(filter(None, SEARCHED))),
    PYTHONSAFEPATH="1",
    PYTHONOPTIMIZE="",  # Ray reads docstrings
    USERNAME=os.getenv("USERNAME", str(os.getuid())),  # uids may have no name
    AUTOMATA_COMMAND=command(
        OUTPUTS.configfiles(workflow.config_settings.configfiles),
        Path(workflow.main_snakefile),
    ),
    AUTOMATA_DATA_CACHE=GRID.shared.data.cache,
    AUTOMATA_DATA_MIRROR=GRID.shared.data.mirror or "",
    AUTOMATA_RAY_ADDRESS=GRID.shared.ray.address or "",
    AUTOMATA_MODEL_ROWS=GRID.shared.models.rows,
)

EXPERIMENT = GRID.shared.experiment
ARCHIVES = GRID.archives


def allow_repeats():
    """Let jobs repeat finished runs that the user forces; others keep their records."""
    dag = workflow.dag_settings
    forced = [str(it) for it in dag.forcerun]  # a module may have renamed the rules
    every = dag.forceall or any(it.endswith(("tune", "tune_and_keep")) for it in forced)
    named = [*forced, *(dag.targets if dag.forcetargets else [])]
    os.environ.update(AUTOMATA_AGAIN="all" if every else "\n".join(map(str, named)))
    # From copies that a killed call leaves, Snakemake would restore deleted records.
    shutil.rmtree(".snakemake/backups/results/runs", ignore_errors=True)


def at_end(lines):
    """Print the lines that `lines()` returns, when this process exits and Snakemake is silent."""
    if Quietness.ALL not in (workflow.output_settings.quiet or ()):
        atexit.register(lambda: [print(it, file=sys.stderr) for it in lines()])


def at_interrupt():
    """Note the interrupt, and hide Snakemake's errors: the whole command of each ended job."""
    INTERRUPTS.append(True)
    logger.addFilter(lambda record: record.levelname != "ERROR")


def makes_all():
    """Return whether this call makes the whole experiment, not only a part."""
    dag = workflow.dag_settings
    return "all" in (dag.targets or ["all"]) and not (dag.until or dag.omit_from)


def as_json(value):
    """Return a function that returns `value` in JSON; in a text, braces would mark wildcards."""
    text = json.dumps(value, default=lambda section: section.model_dump(mode="json"))
    return lambda wildcards: text


def part(wildcards):
    """Return the part of the experiment to which a run belongs."""
    return GRID.experiment_of(wildcards.dataset)


def configured(**values):
    """Return the resources that some part sets: None would hide a default of the user's."""
    return {
        name: lambda wildcards, value=value: value(part(wildcards))
        for name, value in values.items()
        if any(map(value, PARTS))
    }


def on_cluster():
    """Return whether this call submits jobs to a cluster, or runs in a submitted job."""
    return workflow.remote_exec or not workflow.local_exec


def threads_of_run(wildcards):
    """Return the threads of a measured job: the whole machine, or on a cluster its trials' CPUs."""
    compute = part(wildcards).compute
    used = compute.concurrent_trials * compute.threads_per_trial
    return used if on_cluster() else WHOLE_MACHINE
