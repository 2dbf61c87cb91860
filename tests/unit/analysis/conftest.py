"""Records and rows of tables made by hand."""

import pytest

from automata.analysis.ratios import COLUMNS as RATIOS
from automata.analysis.ratios import SAME
from automata.analysis.runs import TYPES
from automata.config.job import Job, Run, Settings
from automata.records import Record, Segment

COUNTS = {"train": 1000, "validation": 100, "test": 200}
DATA = {"sha256": "0" * 64, "classes": 6, "counts": COUNTS, "source": "by hand"}
PROVENANCE = {
    "host": "here",
    "device": "cpu",
    "cpu_count": 2,
    "packages": {"torch": "2.13", "ray": "2.60"},
    "git": {"commit": "c0ffee", "dirty": False},
    "lock_sha256": "1" * 64,
    "own_model_sha256": None,
    "blas": [{"internal_api": "openblas", "version": "0.3", "num_threads": 1}],
    "torch": {"num_threads": 1, "cuda": None},
    "environment": {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": None},
    "python": "3.11.7",
    "platform": "Linux",
    "cpu": "a CPU",
    "memory_mib": 8192,
    "gpus": [],
}


def run(selector="gradmatch", fraction=0.1, seed=0, **changes):
    """Return a row of the tables of runs and of ratios; what no test reads is None."""
    values = {
        **dict.fromkeys([*TYPES, *RATIOS]),
        **dict.fromkeys(SAME, "alike"),
        "dataset": "satimage",
        "search": "tpe",
        "scheduler": "hyperband",
        "selector": selector,
        "fraction": fraction,
        "seed": seed,
        "total_seconds": 60.0,
        "energy_joules": 150.0,
        "energy_method": "measured",
        "energy_source": "pyJoules RAPL",
        "exclusive": True,
        "other_cpu_share": 0.0,
        "flags": "",
        "test_accuracy": 0.88,
        "epochs": 20,
        "concurrent_trials": 1,
        "set_aside": "",
        "speedup": 4.0,
        "relative_test_error": 1.0,
        "energy_ratio": 4.0,
        **changes,
    }
    place = "{dataset}/{search}-{scheduler}".format_map(values)
    values["full_record"] = changes.get("full_record", f"{place}/full-1/{seed}")
    values["record"] = changes.get("record", f"{place}/{selector}-{fraction}/{seed}")
    return values


def of(table, **axes):
    """Return the rows of `table` with these values."""
    for axis, value in axes.items():
        table = table[table[axis] == value]
    return table


def only(table, **axes):
    """Return the one row with these values."""
    (row,) = of(table, **axes).to_dict("records")
    return row


def _segment(wall, cpu, exclusive=True, setup=0.0, **channel):
    source = {"method": "measured", "source": "pyJoules RAPL", **channel}
    measurement = {
        "started_at": 1_700_000_000.25,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "host_busy_cpu_seconds": 2 * cpu,
        "exclusive": exclusive,
        "channels": [{"device": "cpu", "domain": "package_0", **source}],
        "notes": ["a note"],
    }
    return Segment(host="here", setup_seconds=setup, measurement=measurement)


def _trial(index, epochs, accuracy, selected, failure=None):
    """A trial on 100 of 1000 rows: 2 selections per 4 epochs, 3 s in all per epoch."""
    seconds = {"training": 2.0, "selection": 0.75, "evaluation": 0.25}
    progress = {
        "epochs": epochs,
        "samples": 100 * epochs,
        "subset_epochs": epochs,
        "selected_samples": selected * epochs,
        "gradient_selections": epochs // 2,
        "evaluations": [{"epoch": epochs, "accuracy": accuracy, "loss": 0.7, "finished_at": 1.5}],
        "seconds": {name: value * epochs for name, value in seconds.items()},
        "failure": failure,
    }
    configuration = {"learning_rate": 0.1 + 0.2, "optimizer": "adam", "batch_size": 16}
    facts = {"index": index, "configuration": configuration, "rungs": [2, 8]}
    return {**facts, "status": "completed", "progress": progress}


@pytest.fixture
def make_record(protocol):
    """A function that builds a record of two trials (8 and 2 epochs) and a final training.

    Tuning takes 40 s, 36 CPU s and 100 J; the final training 20 s, 18 CPU s and 50 J. `tuning` and
    `final` change how these were measured, `axes` what was run.
    """

    def make(
        *,
        tuning=(),
        final=(),
        failure=None,
        concurrent_trials=1,
        measurement=(),
        settings=(),
        **axes,
    ):
        names = {"dataset": "satimage", "search": "tpe", "scheduler": "hyperband"}
        job = Run(**{**names, "selector": "gradmatch", "fraction": 0.1, "seed": 0, **axes})
        short = protocol.model_copy(update={"epochs": 8})
        compute = {"threads_per_trial": 1, "concurrent_trials": concurrent_trials, "device": "cpu"}
        made = {"protocol": short, "compute": compute, **dict(settings)}
        search = _segment(40.0, 36.0, **{"setup": 3.0, "joules": 100.0, **dict(tuning)})
        training = _segment(20.0, 18.0, **{"joules": 50.0, **dict(final)})
        progress = {"epochs": 8, "steps": 504, "samples": 8000, "failure": failure}
        final_training = {"segments": [training], "progress": progress}
        trials = [
            _trial(0, 8, accuracy=0.75, selected=90),
            _trial(1, 2, accuracy=0.5, selected=100, failure="training loss nan in epoch 2"),
        ]
        return Record(
            job=Job(run=job, settings=Settings.model_validate(made)),
            data=DATA,
            tuning={"segments": [search], "trials": trials, "best": 0},
            final=None if job.selector == "full" else final_training,
            test={"accuracy": 0.72, "loss": 0.9, "rows": 200},
            resumed=False,
            peak_disk_bytes=3_000_000,
            lock_wait_seconds=1.25,
            provenance={**PROVENANCE, **({"measurement": measurement} if measurement else {})},
        )

    return make
