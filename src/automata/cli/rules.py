"""The commands that rules call: each public function is one, in the order of an experiment."""

from __future__ import annotations

import gc
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from automata.errors import UserError

JobText = Annotated[str, "What is run, in JSON."]
Processes = Annotated[int, "How many processes work."]
TableFolder = Annotated[Path, "Folder of the experiment's tables."]
Work = Annotated[Path, "Folder of unfinished work."]


def prepare(
    dataset: Annotated[str, "Name of the data set."],
    *,
    preparation: Annotated[str, "Settings of the data, in JSON."] = "{}",
    files: Annotated[str, "SHA-256 of the user's own files, by role, in JSON."] = "{}",
    output: Annotated[Path, "Prepared data set, safetensors."],
    encoding: Annotated[Path | None, "How its rows are encoded, JSON."] = None,
) -> None:
    """Prepare a data set ($AUTOMATA_DATA_CACHE, $AUTOMATA_DATA_MIRROR: where its files are)."""
    from automata.config.job import parse_preparation
    from automata.datasets.prepare import prepare
    from automata.datasets.prepared import write_dataset
    from automata.files import write_text

    cache = Path(os.environ.get("AUTOMATA_DATA_CACHE", "results/downloads"))
    mirror = os.environ.get("AUTOMATA_DATA_MIRROR") or None
    prepared = prepare(dataset, parse_preparation(preparation), cache, mirror, json.loads(files))
    write_dataset(prepared, output)
    if encoding is not None:
        write_text(encoding, json.dumps(prepared.encoding))


def tune(
    data: Annotated[
        Sequence[Path], "Prepared data set; for a model also how its rows are encoded, JSON."
    ],
    *,
    job: JobText,
    work: Work,
    output: Annotated[Sequence[Path], "Record, JSON; then the model, if it is to be kept."],
    notices: Annotated[int | None, "File descriptor that tells what the job waits for."] = None,
) -> None:
    """Run one tuning job ($AUTOMATA_AGAIN: finished records to repeat, one a line, or all)."""
    gc.disable()  # imports are a quarter faster
    from automata.config.job import parse_job
    from automata.tuning.job import Kept, complete_job

    gc.freeze()
    gc.enable()

    if notices is not None:
        handler = logging.StreamHandler(os.fdopen(notices, "w", closefd=False))
        handler.setFormatter(logging.Formatter("%(asctime)s automata tune: %(message)s"))
        logging.getLogger("automata.locks").addHandler(handler)
    parsed = parse_job(job)
    again = bool({"all", *map(str, output)} & set(os.environ.get("AUTOMATA_AGAIN", "").split("\n")))
    rows = os.environ.get("AUTOMATA_MODEL_ROWS", "train")
    kept = Kept(output[1], data[1], rows) if len(output) > 1 else None
    ray_address = os.environ.get("AUTOMATA_RAY_ADDRESS") or None
    try:
        complete_job(parsed, data[0], work, output[0], ray_address, again, kept)
    except SystemExit as error:
        model = parsed.settings.protocol.model
        raise UserError(
            f"protocol.*.model.factory: {getattr(model, 'factory', model)}: ended the process "
            f"with SystemExit: {error}"
        ) from error


def collect(
    records: Annotated[Sequence[Path], "Records, or folders of records."],
    *,
    comparison: Annotated[str, "Which runs compare, in JSON."] = "{}",
    processes: Processes = 1,
    output: TableFolder,
) -> None:
    """Make the tables of runs, of their trials, and of what made them, from records."""
    from automata.analysis.collect import collect, record_files
    from automata.config.sections import parse_comparison

    collect(record_files(records), parse_comparison(comparison), processes).write(output)


def tabulate(
    tables: TableFolder, *, carbon: Annotated[str, "What CO2 is computed from, in JSON."]
) -> None:
    """Make all tables of an experiment from those of `collect`, and best.yaml beside them."""
    from automata.analysis.claims import parse_claims
    from automata.analysis.study import Study
    from automata.analysis.tables import write
    from automata.config.files import DEFAULTS, SHIPPED, read_experiments
    from automata.config.reading import read
    from automata.config.sections import parse_carbon
    from automata.views import tabulate

    claims = SHIPPED / "claims.yaml"
    given = {
        "carbon": parse_carbon(carbon),
        "paper": read_experiments([DEFAULTS, SHIPPED / "paper.yaml"]),
        "claims": parse_claims(read(claims), claims),
    }
    for name, content in tabulate(Study(tables), given):
        write(content, tables / name)


def plot(
    tables: TableFolder,
    figures: Annotated[Sequence[str], "Names of the figures."],
    *,
    processes: Processes = 1,
    output: Annotated[Path, "Folder of the figures, PDF and PNG."],
) -> None:
    """Draw figures."""
    from automata.figures.files import write_figures

    write_figures(tables, figures, output, processes)


def page(experiment: Annotated[Path, "Folder of the experiment."]) -> None:
    """Make the page that shows an experiment offline."""
    from automata.page.build import write_page

    write_page(experiment)


def publish(
    files: Annotated[Sequence[Path], "Files that are copied."],
    *,
    records: Annotated[Sequence[Path], "Records that are packed into one file."] = (),
    curves: Annotated[Sequence[Path], "Records of learning curves, which are added."] = (),
    source: Annotated[Path, "Folder of the experiment, which the files lie in."],
    target: Annotated[Path, "Folder that they are copied to; beside it lie learning curves."],
) -> None:
    """Copy what was made of an experiment to where it is published."""
    from automata.curves.published import publish_curves
    from automata.curves.record import read_curves
    from automata.publication import pack, publish

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
    from automata.curves.record import CurvesJob
    from automata.curves.train import record_curves

    record_curves(parsed(lambda: CurvesJob.model_validate_json(job)), data, work, output)


def simulate(
    records: Annotated[Sequence[Path], "Records of learning curves."] = (),
    *,
    job: JobText,
    processes: Processes = 1,
    curves: Annotated[Path, "All learning curves, a row per evaluation, Parquet."],
    output: TableFolder,
) -> None:
    """Simulate searches on recorded learning curves."""
    from automata.analysis.tables import read_parquet, write_csv, write_parquet
    from automata.config.base import parsed
    from automata.simulation.tables import Simulation, joined, simulated

    asked = parsed(lambda: Simulation.model_validate_json(job))
    write_parquet(joined(records, asked), curves)
    for name, table in simulated(read_parquet(curves), asked, processes):
        write_csv(table, output / f"{name}.csv")
