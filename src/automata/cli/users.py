"""The commands that a user types: each public function, in the order of the help."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

RUNS = Path("results/runs")


def new(
    data: Annotated[Path, "Table, .npz file, or folder with a subfolder per class."],
    *,
    target: Annotated[str | None, "Column of the classes, required for a table."] = None,
    text: Annotated[str | None, "Column of the texts (default: detected)."] = None,
    hours: Annotated[float, "Hours that the experiment may take here (default: 1)."] = 1.0,
    skip_rows: Annotated[bool, "Leave out rows without a class, and classes of few rows."] = False,
    output: Annotated[Path | None, "Configuration file (default: NAME-OF-DATA.yaml)."] = None,
) -> None:
    """Inspect your own data, time a few trainings, and write a configuration."""
    from automata.new import new

    sys.stdout.write(new(data, target, text, output, hours, skip_rows))


def predict(
    model: Annotated[Path, "Folder of an experiment (results/NAME) or of a run, or a model file."],
    rows: Annotated[Path, "New rows: a table, texts, an image, or a folder of images."],
    *,
    output: Annotated[Path, "File for the predicted class and the probabilities of each row, CSV."],
    factory: Annotated[str | None, "Function that builds your own model, module:function."] = None,
) -> None:
    """Predict the classes of new rows with the model of a finished run."""
    from automata.files import write_text
    from automata.prediction.predict import predict

    if factory is not None:
        sys.path.insert(0, str(Path.cwd()))  # as in the workflow
    write_text(output, predict(model, rows, factory).to_csv(index=False))


def runs() -> None:
    """Count the finished runs by data set, search, scheduler and protocol."""
    from automata.status import inventory

    sys.stdout.write(inventory())


def status(
    *,
    configfile: Annotated[
        Sequence[Path],
        "Configuration files, as for snakemake (default: config/config.yaml alone).",
    ] = (),
    watch: Annotated[bool, "Refresh every two seconds until Ctrl-C."] = False,
) -> None:
    """Count the done, running and pending runs of an experiment; show their progress."""
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
    archives: Annotated[Sequence[Path], "Archives of records, .tar.xz."],
    *,
    output: Annotated[Path, "Folder for the records (default: results/runs)."] = RUNS,
    as_named: Annotated[bool, "Keep the paths in the archive."] = False,
) -> None:
    """Unpack published records to the paths of their runs, so that these runs count as done."""
    from automata.publication import unpack
    from automata.runs import recorded_place

    unpack(archives, output, None if as_named else recorded_place)
