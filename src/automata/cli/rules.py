"""The commands that rules call: each public function, in the order of an experiment."""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from automata.errors import UserError

JobText = Annotated[str, "Settings of the job, in JSON."]
Processes = Annotated[int, "Number of parallel processes."]
TableFolder = Annotated[Path, "Folder of the experiment's tables."]
Work = Annotated[Path, "Folder of unfinished work, from which an interrupted job resumes."]


def prepare(
    dataset: Annotated[str, "Name of the data set."],
    *,
    preparation: Annotated[str, "Settings of the data, in JSON."] = "{}",
    files: Annotated[str, "SHA-256 of the user's own files, by role, in JSON."] = "{}",
    output: Annotated[Path, "Prepared data set, safetensors."],
    encoding: Annotated[Path | None, "File for the encoding of the rows, JSON."] = None,
) -> None:
    """Split and encode a data set (downloads: $AUTOMATA_DATA_CACHE, $AUTOMATA_DATA_MIRROR)."""
    from automata.config.base import parsed
    from automata.config.data import Preparation
    from automata.datasets.prepare import prepare
    from automata.datasets.prepared import write_dataset
    from automata.files import write_text

    cache = Path(os.environ.get("AUTOMATA_DATA_CACHE", "results/downloads"))
    mirror = os.environ.get("AUTOMATA_DATA_MIRROR") or None
    settings = parsed(Preparation, preparation)
    prepared = prepare(dataset, settings, cache, mirror, json.loads(files))
    write_dataset(prepared, output)
    if encoding is not None:
        write_text(encoding, json.dumps(prepared.encoding))


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
    job: JobText,
    work: Work,
    output: Annotated[Sequence[Path], "Record, JSON; to keep a model, also its file."],
    notices: Annotated[int | None, "File descriptor for messages about waiting."] = None,
) -> None:
    """Run one tuning job ($AUTOMATA_AGAIN: records of runs to repeat, one per line, or `all`)."""
    gc.disable()  # imports are a quarter faster
    from automata.config.base import parsed
    from automata.config.job import Job
    from automata.config.protocol import OwnModel
    from automata.registry import OWN
    from automata.tuning.job import ModelFiles, complete_job

    gc.freeze()
    gc.enable()

    if notices is not None:
        handler = logging.StreamHandler(os.fdopen(notices, "w", closefd=False))
        handler.setFormatter(logging.Formatter("%(asctime)s automata tune: %(message)s"))
        logging.getLogger("automata.locks").addHandler(handler)
    given = parsed(Job, job)
    again = bool({"all", *map(str, output)} & set(os.environ.get("AUTOMATA_AGAIN", "").split("\n")))
    rows = os.environ.get("AUTOMATA_MODEL_ROWS", "train")
    files = ModelFiles(output[1], data[1], rows) if len(output) > 1 else None
    ray_address = os.environ.get("AUTOMATA_RAY_ADDRESS") or None
    try:
        complete_job(given, data[0], work, output[0], ray_address, again, files)
    except SystemExit as error:
        if error.code == signal.SIGTERM:  # from Ray's handler
            raise KeyboardInterrupt from error
        own = [f"{OWN[kind]}: {target}" for kind, target in given.settings.own.items()]
        if isinstance(model := given.settings.protocol.model, OwnModel):
            own.append(f"protocol.*.model.factory: {model.factory}")
        if not own:
            raise
        text = f"{' or '.join(own)}: ended the process with SystemExit: {error}"
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
    from automata.config.base import parsed
    from automata.config.sections import Comparison

    made = collect(record_files(records), parsed(Comparison, comparison), processes)
    for name, content in made.items():
        write(content, output / name)


def tabulate(
    tables: TableFolder,
    *,
    carbon: Annotated[str, "Settings of the CO2 estimate, in JSON."],
    baselines: Annotated[Sequence[Path], "Scores of simple models, JSON."] = (),
    claims: Annotated[bool, "Also check the paper's claims."] = False,
) -> None:
    """Make all other tables from those of `collect`, and best.yaml beside the folder."""
    from automata.analysis.claims import parse_claims
    from automata.analysis.study import Study, tabulate
    from automata.analysis.tables import read_json, write
    from automata.config.base import parsed
    from automata.config.files import DEFAULTS, SHIPPED, read, read_experiments
    from automata.config.sections import Carbon

    given: dict[str, Any] = {
        "carbon": parsed(Carbon, carbon),
        "paper": read_experiments([DEFAULTS, SHIPPED / "paper.yaml"]),
        "baselines": {(scores := read_json(file))["dataset"]: scores for file in baselines},
    }
    if claims:
        file = SHIPPED / "claims.yaml"
        given["claims"] = parse_claims(read(file), file)
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
    """Make the page that shows an experiment offline ($AUTOMATA_CONFIGFILES: a file per line)."""
    from automata.page.build import write_page

    write_page(experiment, os.environ.get("AUTOMATA_CONFIGFILES", "").splitlines())


def publish(
    files: Annotated[Sequence[Path], "Files to copy."],
    *,
    records: Annotated[Sequence[Path], "Records to pack into one file."] = (),
    curves: Annotated[Sequence[Path], "Records of learning curves to add."] = (),
    source: Annotated[Path, "Folder of the experiment, with the files."],
    target: Annotated[Path, "Folder to copy to; learning curves go to `curves` beside it."],
) -> None:
    """Copy the results of an experiment to the folder of published results."""
    from automata.publication import pack, publish
    from automata.simulation.curves import publish_curves
    from automata.simulation.grid import read_curves

    publish(source, files, target)
    if records:
        pack(records, target / "records.tar.xz")
    if curves:
        publish_curves(map(read_curves, curves), target.with_name("curves"))


def record_curves(
    data: Annotated[Path, "Prepared data set."],
    *,
    job: JobText,
    work: Work,
    output: Annotated[Path, "Record, JSON."],
) -> None:
    """Record the learning curves of some configurations."""
    from automata.config.base import parsed
    from automata.simulation.grid import CurvesJob
    from automata.simulation.train import record_curves

    record_curves(parsed(CurvesJob, job), data, work, output)


def simulate(
    records: Annotated[Sequence[Path], "Records of learning curves."] = (),
    *,
    job: JobText,
    curves: Annotated[Path, "File for all learning curves, one row per evaluation, Parquet."],
    output: TableFolder,
) -> None:
    """Join recorded learning curves and simulate searches on them."""
    from automata.analysis.tables import write
    from automata.config.base import parsed
    from automata.simulation.tables import Simulation, joined, simulated

    simulation = parsed(Simulation, job)
    table = joined(records, simulation)
    write(table, curves)
    for name, content in simulated(table, simulation):
        write(content, output / f"{name}.csv")
