"""The commands, in the order of the help: those that a user types, then those of rules.

Each imports what is slow when it runs, so that `--help` does not wait for torch or Ray.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from automata.config.base import parsed
from automata.config.data import Preparation
from automata.config.files import DEFAULTS, SHIPPED, command, read, read_experiments
from automata.config.job import Job
from automata.config.sections import Carbon, Comparison
from automata.errors import UserError
from automata.files import replacing, write_text

Processes = Annotated[int, "Number of parallel processes."]
TableFolder = Annotated[Path, "Folder of the experiment's tables."]


def new(
    data: Annotated[Path, "Table, .npz file, or folder with a subfolder per class."],
    *,
    target: Annotated[str | None, "Column of the classes, required for a table."] = None,
    text: Annotated[str | None, "Column of the texts (default: detected)."] = None,
    hours: Annotated[float, "Hours that the experiment may take here (default: 1)."] = 1.0,
    skip_rows: Annotated[bool, "Leave out rows without a class, and classes of few rows."] = False,
    encoding: Annotated[str | None, "Encoding of a text file that is not UTF-8."] = None,
    output: Annotated[Path | None, "Configuration file (default: NAME-OF-DATA.yaml)."] = None,
    force: Annotated[bool, "Replace the configuration file."] = False,
) -> None:
    """Inspect your own data, time a few trainings, and write a configuration."""
    from automata.experiment.new import new

    sys.stdout.write(new(data, target, text, output, hours, skip_rows, encoding, force))


def predict(
    model: Annotated[Path, "Folder of an experiment (results/NAME) or of a run, or a model file."],
    rows: Annotated[Path, "New rows: a table, texts, an image, or a folder of images."],
    *,
    output: Annotated[Path, "File for the predicted class and the probabilities of each row, CSV."],
    factory: Annotated[str | None, "Function that builds your own model, module:function."] = None,
) -> None:
    """Predict the classes of new rows with the model of a finished run."""
    from automata.prediction.predict import load

    if factory is not None:
        sys.path.insert(0, str(Path.cwd()))  # as in the workflow
    if any(output.exists() and it.exists() and output.samefile(it) for it in (model, rows)):
        raise UserError(f"{output}: is read; name another file")
    table = load(model, factory).table(rows)
    write_text(output, table.to_csv(index=False))
    logging.getLogger(__name__).info("%d rows written to %s", len(table), output)


def status(
    *,
    configfile: Annotated[
        Sequence[Path],
        "Configuration files, as for snakemake (default: config/config.yaml alone).",
    ] = (),
) -> None:
    """Count the runs of an experiment by state; show the progress of running ones."""
    from automata.experiment.grid import Grid
    from automata.experiment.status import report

    grid = Grid(read_experiments([DEFAULTS, *configfile]), [str(Path.cwd()), *sys.path])
    sys.stdout.write(report(grid))


def unpack(
    archives: Annotated[Sequence[Path], "Archives of records, .tar.xz."],
    *,
    output: Annotated[Path, "Folder for the records (default: results/runs)."] = Path(
        "results/runs"
    ),
    as_named: Annotated[bool, "Keep the paths in the archive."] = False,
) -> None:
    """Unpack published records to the paths of their runs, so that these runs count as done."""
    from automata.records.archive import unpack

    unpack(archives, output, as_named)


def prepare(
    dataset: Annotated[str, "Name of the data set."],
    *,
    preparation: Annotated[str, "Settings of the data, in JSON."] = "{}",
    files: Annotated[str, "SHA-256 of the user's own files, by role, in JSON."] = "{}",
    output: Annotated[Path, "Prepared data set, safetensors."],
    encoding: Annotated[Path | None, "File for the encoding of the rows, JSON."] = None,
) -> None:
    """Split and encode a data set (downloads: $AUTOMATA_DATA_CACHE, $AUTOMATA_DATA_MIRROR)."""
    from automata.datasets.prepare import prepare
    from automata.datasets.prepared import write_dataset
    from automata.records.record import sealed

    cache = Path(os.environ.get("AUTOMATA_DATA_CACHE", "results/downloads"))
    mirror = os.environ.get("AUTOMATA_DATA_MIRROR") or None
    settings = parsed(Preparation, preparation)
    prepared = prepare(dataset, settings, cache, mirror, json.loads(files))
    write_dataset(prepared, output)
    if encoding is not None:
        write_text(encoding, sealed(prepared.encoding))


def recommend(folder: Annotated[Path, "Folder with the request of `automata.tune`."]) -> None:
    """Prepare the data of `automata.tune`, and plan its job by a probe."""
    from automata.experiment.request import recommend

    recommend(folder)


def baselines(
    data: Annotated[Path, "Prepared data set."],
    *,
    output: Annotated[Path, "Scores, JSON."],
) -> None:
    """Score simple models on the test rows of a data set."""
    from automata.analysis.tables import write
    from automata.datasets.prepared import read_dataset
    from automata.training.baselines import baselines

    write(baselines(read_dataset(data)), output)


def tune(
    data: Annotated[Sequence[Path], "Prepared data set; to keep a model, also its encoding, JSON."],
    *,
    job: Annotated[str, "Settings of the job, in JSON."],
    work: Annotated[Path, "Folder of unfinished work, from which an interrupted job resumes."],
    output: Annotated[Sequence[Path], "Record, JSON; to keep a model, also its file."],
    notices: Annotated[int | None, "File descriptor for messages about waiting."] = None,
) -> None:
    """Run one tuning job ($AUTOMATA_AGAIN: records of runs to repeat, one per line, or `all`)."""
    ray_address = os.environ.get("AUTOMATA_RAY_ADDRESS") or None
    if ray_address is None:
        for name in [name for name in os.environ if name.startswith(("RAY_", "TUNE_"))]:
            del os.environ[name]  # of another Ray; importing Ray may crash on their values
    gc.disable()  # imports are a quarter faster
    from automata.tuning.job import ModelFiles, complete_job

    gc.freeze()
    gc.enable()
    _show_waits(notices)
    given = parsed(Job, job)
    again = bool({"all", *map(str, output)} & set(os.environ.get("AUTOMATA_AGAIN", "").split("\n")))
    rows = os.environ.get("AUTOMATA_MODEL_ROWS", "train")
    files = ModelFiles(output[1], data[1], rows) if len(output) > 1 else None
    try:
        complete_job(given, data[0], work, output[0], ray_address, again, files)
    except SystemExit as error:
        if error.code == signal.SIGTERM:  # from Ray's handler
            raise KeyboardInterrupt from error
        text = f"your own code or a library ended the process with SystemExit: {error}"
        raise UserError(text) from error


def collect(
    records: Annotated[Sequence[Path], "Records, or folders of records."],
    *,
    comparison: Annotated[str, "Settings of the comparison, in JSON."] = "{}",
    processes: Processes = 1,
    output: TableFolder,
) -> None:
    """Make the tables of runs, trials and provenance from records."""
    from automata.analysis.collect import collect, record_files
    from automata.analysis.tables import write
    from automata.code import STAMP, reading_code

    made = collect(record_files(records), parsed(Comparison, comparison), processes)
    for name, content in made.items():
        write(content, output / name)
    write(reading_code(), output / STAMP)


def tabulate(
    tables: TableFolder,
    *,
    carbon: Annotated[str, "Settings of the CO2 estimate, in JSON."],
    baselines: Annotated[Sequence[Path], "Scores of simple models, JSON."] = (),
    claims: Annotated[bool, "Also check the paper's claims."] = False,
) -> None:
    """Make all other tables from those of `collect`, and best.yaml beside the folder."""
    from automata.analysis.claims import ClaimsFile
    from automata.analysis.study import Study, tabulate
    from automata.analysis.tables import read_json, write

    given: dict[str, Any] = {
        "carbon": parsed(Carbon, carbon),
        "paper": read_experiments([DEFAULTS, SHIPPED / "paper.yaml"]),
        "baselines": {(scores := read_json(file))["dataset"]: scores for file in baselines},
    }
    if claims:
        file = SHIPPED / "claims.yaml"
        given["claims"] = parsed(ClaimsFile, read(file), f"{file}: ").claims
    for name, content in tabulate(Study(tables), given):
        write(content, tables / name)


def plot(
    tables: TableFolder,
    figures: Annotated[Sequence[str], "Names of the figures."],
    *,
    processes: Processes = 1,
    output: Annotated[Path, "Folder of the figures, PDF and PNG."],
) -> None:
    """Draw figures from the tables."""
    from automata.figures.files import write_figures

    write_figures(tables, figures, output, processes)


def page(experiment: Annotated[Path, "Folder of the experiment."]) -> None:
    """Make the page that shows an experiment offline ($AUTOMATA_COMMAND: makes its runs again)."""
    from automata.page.build import write_page

    write_page(experiment, os.environ.get("AUTOMATA_COMMAND") or command([]))


def publish(
    files: Annotated[Sequence[Path], "Files to copy."],
    *,
    records: Annotated[Sequence[Path], "Records to pack into one file."] = (),
    source: Annotated[Path, "Folder of the experiment, with the files."],
    target: Annotated[Path, "Folder to copy to."],
) -> None:
    """Copy the results of an experiment to the folder of published results."""
    from automata.records.archive import pack

    for path in files:
        with replacing(target / path.relative_to(source)) as temporary:
            shutil.copyfile(path, temporary)
    if records:
        pack(records, target / "records.tar.xz")


def _show_waits(notices: int | None) -> None:
    """Also print messages about waiting to the file descriptor `notices`."""
    if notices is not None:
        handler = logging.StreamHandler(os.fdopen(notices, "w", closefd=False))
        handler.setFormatter(logging.Formatter("%(asctime)s automata: %(message)s"))
        logging.getLogger("automata.locks").addHandler(handler)
