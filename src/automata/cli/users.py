"""The commands that a user types: each public function is one, in the order of the help."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

RUNS = Path("results/runs")


def new(
    data: Annotated[Path, "Table, .npz, or folder with a folder of images per class."],
    *,
    target: Annotated[str | None, "Column of the classes, of a table."] = None,
    text: Annotated[str | None, "Column of the texts, if it is not found."] = None,
    hours: Annotated[float, "Time that the experiment may take on this machine."] = 1.0,
    skip_rows: Annotated[bool, "Leave out rows without a class, and classes of few rows."] = False,
    output: Annotated[Path | None, "Configuration (default: the name of the data, .yaml)."] = None,
) -> None:
    """Write a configuration for data of your own, after a look at them and a timed probe."""
    from automata.new import new

    sys.stdout.write(new(data, target, text, output, hours, skip_rows))


def predict(
    model: Annotated[Path, "Experiment (results/NAME), folder of a run, or the model in it."],
    rows: Annotated[Path, "New rows: a table, texts, an image, or a folder of images."],
    *,
    output: Annotated[Path, "Class and probabilities of each row, CSV."],
    factory: Annotated[str | None, "Code that made a model of your own, module:function."] = None,
) -> None:
    """Predict the classes of new rows by a model that a run has left."""
    from automata.files import write_text
    from automata.prediction.predict import predict

    if factory is not None:
        sys.path.insert(0, str(Path.cwd()))  # where the workflow looks for it
    write_text(output, predict(model, rows, factory).to_csv(index=False))


def runs() -> None:
    """List the runs there are, by protocol."""
    from automata.status import inventory

    sys.stdout.write(inventory())


def status(
    *,
    configfile: Annotated[
        Sequence[Path],
        "Configuration files, as snakemake takes them (default: config/config.yaml alone).",
    ] = (),
    watch: Annotated[bool, "Say it again every two seconds, until Ctrl-C."] = False,
) -> None:
    """Count the runs of an experiment done, running and to come, and say how far each is."""
    from automata.config.files import DEFAULTS, read_experiments
    from automata.grid import Grid
    from automata.status import report

    grid = Grid(read_experiments([DEFAULTS, *configfile]), [str(Path.cwd()), *sys.path])
    sys.stdout.write(report(grid))
    while watch:
        time.sleep(2)
        sys.stdout.write(f"\033[H\033[J{report(grid)}")
        sys.stdout.flush()


def unpack(
    archives: Annotated[Sequence[Path], "Files with packed records, .tar.xz."],
    *,
    output: Annotated[Path, "Folder of the records (default: results/runs)."] = RUNS,
    as_named: Annotated[bool, "Leave each record at its path in the archive."] = False,
) -> None:
    """Put published records in the places of their runs, which then count as run."""
    from automata.publication import unpack
    from automata.runs import recorded_place

    unpack(archives, output, None if as_named else recorded_place)
