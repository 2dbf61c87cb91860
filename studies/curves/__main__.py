"""The commands of the rules: `python -m studies.curves {record,simulate,publish}`."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from automata.analysis.study import Study
from automata.analysis.tables import write
from automata.config.base import parsed
from automata.errors import UserError
from automata.figures.style import save
from studies.curves.curves import publish_curves
from studies.curves.figures import figure_of
from studies.curves.jobs import CurvesJob, read_curves
from studies.curves.plan import PUBLISHED, Simulation
from studies.curves.tables import joined, simulated
from studies.curves.train import record_curves


def main() -> None:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="studies.curves")
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="train some configurations completely")
    record.add_argument("data", type=Path, help="prepared data set")
    record.add_argument("--job", required=True, help="a CurvesJob, in JSON")
    record.add_argument("--work", type=Path, required=True, help="folder of unfinished work")
    record.add_argument("--output", type=Path, required=True, help="record, JSON")
    simulate = commands.add_parser("simulate", help="write tables and figures")
    simulate.add_argument("records", type=Path, nargs="*", help="new records of learning curves")
    simulate.add_argument("--simulation", required=True, help="a Simulation, in JSON")
    simulate.add_argument("--figures", nargs="+", required=True, help="names of the figures")
    simulate.add_argument("--output", type=Path, required=True, help="folder of the study")
    publish = commands.add_parser("publish", help="copy tables and figures, add the records")
    publish.add_argument("records", type=Path, nargs="*", help="new records of learning curves")
    publish.add_argument("--source", type=Path, required=True, help="folder of the study")
    options = vars(parser.parse_args())
    try:
        COMMANDS[options.pop("command")](**options)
    except UserError as error:
        sys.exit(f"studies.curves: error: {error}")


def record(data: Path, job: str, work: Path, output: Path) -> None:
    """Record the learning curves of some configurations."""
    record_curves(parsed(CurvesJob, job), data, work, output)


def simulate(records: list[Path], simulation: str, figures: list[str], output: Path) -> None:
    """Simulate searches on all learning curves, and write their tables and figures."""
    asked = parsed(Simulation, simulation)
    for name, table in simulated(joined(records, asked.trainings), asked):
        write(table, output / f"tables/{name}.csv")
    for name in figures:
        path = output / "figures" / name
        figure = figure_of(Study(output / "tables"), name)
        save(figure, path.with_suffix(".pdf"), path.with_suffix(".png"))


def publish(records: list[Path], source: Path) -> None:
    """Copy the study to the published results, and add its records to the published curves."""
    publish_curves(map(read_curves, records), PUBLISHED)
    for kind, files in {"tables": "*.csv", "figures": "*.png"}.items():
        target = PUBLISHED.with_name(source.name) / kind
        target.mkdir(parents=True, exist_ok=True)
        for file in (source / kind).glob(files):
            shutil.copyfile(file, target / file.name)


COMMANDS: dict[str, Callable[..., None]] = {
    "record": record,
    "simulate": simulate,
    "publish": publish,
}

if __name__ == "__main__":
    main()
