"""What one version of the project makes: `tools/same.py` calls it, and compares the files.

It runs in a folder with the files of that version, with its `src` on PYTHONPATH.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TREE = Path.cwd()
PUBLISHED = {"published": "published.yaml", "published-default": "default.yaml"}
"""Experiments on published records, and their files in config/reference."""


def plans(out: Path) -> None:
    """Write the plan of each shipped configuration, without and with the published records."""
    from snakemake.exceptions import MissingInputException

    for state in ("none", "published"):
        if state == "published":
            for archive in sorted(TREE.glob("results/reference/*/records.tar.xz")):
                # One at a time: two experiments may have a record of the same run.
                _python("automata", "unpack", str(archive), "--output", str(out / "runs"))
                shutil.copytree(out / "runs", TREE / "results/runs", dirs_exist_ok=True)
                shutil.rmtree(out / "runs")
            for record in TREE.glob("results/runs/**/record.json"):
                os.utime(record, (0, 0))  # parameters may depend on dates
        for file in sorted(TREE.glob("config/**/*.yaml")):
            if file.name != "claims.yaml":
                name = f"{file.relative_to(TREE / 'config').with_suffix('')}, records {state}.json"
                try:
                    jobs: dict[str, Any] = dict(_planned(file))
                except (SystemExit, MissingInputException) as error:  # of the user's own files
                    jobs = {"error": str(error)}
                _write(out / name, jobs)


def _planned(config: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each job that Snakemake plans, by its first output."""
    import yaml
    from snakemake.api import SnakemakeApi
    from snakemake.settings import types

    profile = yaml.safe_load((TREE / "workflow/profiles/default/profile.yaml").read_text())
    triggers = {types.RerunTrigger.parse_choice(name) for name in profile["rerun-triggers"]}
    with SnakemakeApi(types.OutputSettings(quiet={types.Quietness.ALL})) as api:
        workflow = api.workflow(
            resource_settings=types.ResourceSettings(cores=2),
            config_settings=types.ConfigSettings(configfiles=[config]),
            storage_settings=types.StorageSettings(),
            snakefile=TREE / "workflow/Snakefile",
        )
        # This plans without the messages of a dry run, which take half of its time.
        workflow.dag(types.DAGSettings(rerun_triggers=triggers)).printrulegraph()
        dag: Any = workflow._workflow.dag  # there is no public way
        for job in dag.needrun_jobs(exclude_finished=False):
            output = sorted(map(str, job.output))
            planned = {"rule": job.rule.name, "output": output, "params": dict(job.params.items())}
            yield output[0] if output else job.rule.name, planned


def errors(out: Path) -> None:
    """Write the messages about wrong inputs, by test."""
    import pytest

    texts: dict[str, list[str]] = {}
    leave = pytest.RaisesExc.__exit__

    def noted(self: Any, kind: Any, error: Any, trace: Any) -> bool:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        text = str(error).replace(str(out), "FOLDER").replace(str(TREE), "PROJECT")
        texts.setdefault(test, []).append(text)
        return leave(self, kind, error, trace)

    pytest.RaisesExc.__exit__ = noted  # type: ignore[method-assign]
    tests = ["tests/unit/config", "tests/unit/experiment/test_grid.py", "tests/unit/datasets/own"]
    ended = pytest.main(["-q", f"--basetemp={out / 'work'}", "-p", "no:cacheprovider", *tests])
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"pytest: {ended}")
    _write(out / "errors.json", texts)


def records(out: Path) -> None:
    """Write hashes of the sections of each published record after reading and writing it."""
    from automata.records.record import read_record, write_record

    hashes, written = {}, out / "record.json"
    for archive in sorted(TREE.glob("results/reference/*/records.tar.xz")):
        with tarfile.open(archive) as tar:
            for entry in tar:
                if file := tar.extractfile(entry):
                    written.write_bytes(file.read())
                    write_record(read_record(written), written)
                    sections = json.loads(written.read_text(encoding="utf-8"))
                    hashes[f"{archive.parent.name}/{entry.name}"] = {
                        name: hashlib.sha256(json.dumps(section).encode()).hexdigest()
                        for name, section in sections.items()
                    }
    written.unlink()
    _write(out / "records.json", hashes)


def redraw(out: Path) -> None:
    """Make tables, figures and pages from the published records."""
    for experiment, config in PUBLISHED.items():
        file = f"config/reference/{config}"
        _python("snakemake", "--cores", "all", "--configfile", file)
        made = (TREE / "results" / experiment).rename(out / experiment)
        for dated in made.glob("figures/**/*.pdf"):
            dated.unlink()
        page = made / "index.html"
        html = page.read_text(encoding="utf-8")
        data = r'<script type="application/json" id="(.*?)">(.*?)</script>'
        for name, text in re.findall(data, html, re.DOTALL):
            _write(made / f"page/{name}.json", json.loads(text))
        bare = re.sub(r"data:image/[^\"')]+", "FIGURE", re.sub(data, "DATA", html, flags=re.DOTALL))
        page.write_text(bare, encoding="utf-8")


def _python(*command: str) -> None:
    subprocess.run([sys.executable, "-m", *command], check=True)


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


if __name__ == "__main__":
    import automata

    if not Path(automata.__file__ or "").is_relative_to(TREE):
        sys.exit(f"{automata.__file__} is not in {TREE}")
    {it.__name__: it for it in (plans, errors, records, redraw)}[sys.argv[1]](Path(sys.argv[2]))
