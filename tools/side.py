"""What one version of the project does, in files that `tools/same.py` compares.

Called in a folder with the files of that version, with its `src` on PYTHONPATH.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TREE = Path.cwd()
PUBLISHED = {"published": "published.yaml", "published-default": "default.yaml"}
"""Experiments that are made again from published records -> their files in config/reference."""


def plans(out: Path) -> None:
    """Write the plan of each shipped configuration: without records, and with the published."""
    for state in ("none", "published"):
        folder = workdir(out / "work" / state)
        if state == "published":
            archives = sorted(map(str, folder.glob("results/reference/*/records.tar.xz")))
            run("automata", "unpack", *archives, cwd=folder)
            for record in folder.glob("results/runs/**/record.json"):
                os.utime(record, (0, 0))  # parameters may rest on dates
        for file in sorted(TREE.glob("config/**/*.yaml")):
            if file.name != "claims.yaml":
                name = f"{file.relative_to(TREE / 'config').with_suffix('')}, records {state}.json"
                parts: dict[str, dict[str, Any]] = {"runs": {}, "reductions": {}}
                try:
                    for key, job in planned(folder, file):
                        part = "runs" if job["rule"] in ("prepare", "tune") else "reductions"
                        parts[part][key] = job
                except SystemExit as refused:  # it has files of the user's own, which are not here
                    parts["runs"]["refused"] = str(refused)
                for part, jobs in parts.items():
                    write(out / part / name, jobs)


def planned(folder: Path, config: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each job that Snakemake plans in `folder`, by its first output."""
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
            workdir=folder,
        )
        # Plans without the messages of a dry run, which take half of its time.
        workflow.dag(types.DAGSettings(rerun_triggers=triggers)).printrulegraph()
        dag: Any = workflow._workflow.dag  # no public way to it
        for job in dag.needrun_jobs(exclude_finished=False):
            output = sorted(map(str, job.output))
            said = {"rule": job.rule.name, "output": output, "params": dict(job.params.items())}
            yield output[0] if output else job.rule.name, said


def errors(out: Path) -> None:
    """Write what each test of wrong inputs was told, by the name of the test."""
    import pytest

    texts: dict[str, list[str]] = {}
    leave = pytest.RaisesExc.__exit__

    def noted(self: Any, kind: Any, error: Any, trace: Any) -> bool:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        text = str(error).replace(str(out), "FOLDER").replace(str(TREE), "PROJECT")
        texts.setdefault(test, []).append(text)
        return leave(self, kind, error, trace)

    pytest.RaisesExc.__exit__ = noted  # type: ignore[method-assign]
    tests = [f"tests/workflow/test_{name}.py" for name in ("bad_inputs", "configuration_errors")]
    ended = pytest.main(["-q", f"--basetemp={out / 'work'}", "-p", "no:cacheprovider", *tests])
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"pytest: {ended}")
    write(out / "errors.json", texts)


def records(out: Path) -> None:
    """Write what becomes of each published record that is read and written: hashes by section."""
    from automata.records import parse_record, write_record

    found = {}
    again = out / "record.json"
    for archive in sorted(TREE.glob("results/reference/*/records.tar.xz")):
        with tarfile.open(archive) as tar:
            for entry in tar:
                file = tar.extractfile(entry)
                text = file.read() if file else b""
                name = f"{archive.parent.name}/{entry.name}"
                write_record(parse_record(text.decode(), name), again)
                written = again.read_bytes()
                parts = {key: digest(part) for key, part in json.loads(written).items()}
                del parts["digest"]  # of all parts: it would hide which one differs
                same = "as published" if written == text else digest(written.decode())
                found[name] = {**parts, "written": same}
    again.unlink()
    write(out / "records.json", found)


def redraw(out: Path) -> None:
    """Make tables, figures and pages from the published records, and sort them by kind."""
    folder = workdir(out / "work")
    for experiment, config in PUBLISHED.items():
        options = ["--cores", "all", "--snakefile", str(TREE / "workflow/Snakefile")]
        file = str(TREE / "config/reference" / config)
        run("snakemake", *options, "--configfile", file, cwd=folder)
        made = folder / "results" / experiment
        (made / "tables").rename(folder_of(out / "tables" / experiment))
        for figure in made.glob("figures/**/*.png"):
            figure.rename(folder_of(out / "figures" / experiment / figure.relative_to(made)))
        html = (made / "index.html").read_text(encoding="utf-8")
        data = r'<script type="application/json" id="(.*?)">(.*?)</script>'
        for name, text in re.findall(data, html, re.DOTALL):
            write(out / "page" / experiment / f"{name}.json", json.loads(text))
        bare = re.sub(r"data:image/[^\"')]+", "FIGURE", re.sub(data, "DATA", html, flags=re.DOTALL))
        (out / "page" / experiment / "index.html").write_text(bare, encoding="utf-8")


def digest(part: object) -> str:
    """Return a hash of a part of a record."""
    return hashlib.sha256(json.dumps(part).encode()).hexdigest()


def workdir(folder: Path) -> Path:
    """Return a new folder to work in, with the published results of this version."""
    reference = folder_of(folder / "results/reference")
    reference.symlink_to(TREE / "results/reference")
    return folder


def folder_of(path: Path) -> Path:
    """Return `path`, after making the folder that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def run(*command: str, cwd: Path) -> None:
    """Run a module of Python."""
    subprocess.run([sys.executable, "-m", *command], cwd=cwd, check=True)


def write(path: Path, content: object) -> None:
    """Write JSON."""
    folder_of(path).write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")


WORK = {"plans": plans, "errors": errors, "records": records, "redraw": redraw}

if __name__ == "__main__":
    import automata

    if not Path(automata.__file__ or "").is_relative_to(TREE):
        sys.exit(f"{automata.__file__} is not of {TREE}")
    WORK[sys.argv[1]](Path(sys.argv[2]))
