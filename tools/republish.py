"""`python -m tools.republish [NAME ...]`: publish tables, figures and pages again.

They are made from the published records by the present code; files that are not published stay so.
Then `python -m tools.texts` quotes them in the documentation.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from automata.config.files import DEFAULTS, read
from automata.names import DATASETS

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results/reference"
ARCHIVE = "records.tar.xz"
CONFIGURATIONS = {"protocol": "published"}
"""Folder -> its configuration in config/reference, if that has another name."""


def main(chosen: Sequence[str]) -> None:
    """Publish the folders with these names, or all with an archive, again."""
    for archive in sorted(REFERENCE.glob(f"*/{ARCHIVE}")):
        if not chosen or archive.parent.name in chosen:
            with tempfile.TemporaryDirectory(prefix="automata-") as work:
                _publish(archive.parent, Path(work))
            print(archive.parent, flush=True)


def _publish(folder: Path, work: Path) -> None:
    """Make what `folder` holds from its archive in `work`, and copy it."""
    again = f"snakemake --cores all --configfile config/reference/{folder.name}.yaml"
    config = read(ROOT / f"config/reference/{CONFIGURATIONS.get(folder.name, folder.name)}.yaml")
    made = Path("results", config["experiment"])  # tables have paths of records: it is relative
    tables = made / "tables"
    files = [it.relative_to(folder) for it in sorted(folder.rglob("*")) if it.is_file()]
    figures = [it.relative_to("figures").with_suffix("") for it in files if it.suffix == ".png"]

    def call(*arguments: object) -> None:
        environment = {**os.environ, "AUTOMATA_COMMAND": again}
        command = [sys.executable, "-m", "automata", *map(str, arguments)]
        quiet = subprocess.DEVNULL
        subprocess.run(command, cwd=work, env=environment, stderr=quiet, check=True)

    # An experiment on archives has the records in its own folder, as `unpack` of the rules.
    own = "archives" in config
    records = made / "records" if own else Path("results/runs")
    call("unpack", folder / ARCHIVE, *["--as-named"] * own, "--output", records)
    call("collect", records, "--processes", 2, "--output", tables)
    ran = set(pd.read_csv(work / tables / "runs.csv", dtype=str)["dataset"])
    claims = ["--claims"] if ran & DATASETS.keys() else []
    call("tabulate", tables, *claims, "--carbon", json.dumps(read(DEFAULTS)["carbon"]))
    if figures:
        call("plot", tables, *figures, "--processes", 2, "--output", made / "figures")
    if Path("index.html") in files:
        call("page", made)
    for file in files:
        if file.name != ARCHIVE:
            shutil.copyfile(work / made / file, folder / file)


if __name__ == "__main__":
    main(sys.argv[1:])
