"""What the tests would notice: a sample of small faults, each run against the tests of its line.

    make setup
    python tests/mutants trace --output /tmp/trace.json     # once for a state of the tests
    python tests/mutants run --trace /tmp/trace.json --output /tmp/mutants.jsonl
    python tests/mutants show /tmp/mutants.jsonl

`trace` runs the unit tests and notes which lines of the package each one executes and how long it
takes. `run` draws faults (mutate.py), the same for one seed and one source, and runs each against
the tests of its line: cheap files first, up to `--seconds` of what `trace` measured, to the first
failure. It adds to its output, and continues one that was stopped. With `--hint`, the output of
another run, the test that found a fault there comes first: comparing two states of the tests costs
little more than what survives.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mutate import Fault, faults

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("selection", "training", "tuning", "metering", "analysis")
LIBRARIES = (
    "hypothesis",
    "matplotlib.pyplot",
    "pandas",
    "pytest",
    "ray.tune",
    "scipy.stats",
    "torch",
)
"""Imported once: each fault is tried in a fork of a process that has them."""
PATIENCE = 4
"""Times what its tests take, and half a minute, after which a fault counts as found: it hangs."""


@dataclass(frozen=True)
class Mutant:
    """A fault in a file of the package."""

    path: str
    fault: Fault
    before: str
    """The code that it replaces."""

    @property
    def name(self) -> str:
        """What tells it from others, as long as its file stays the same."""
        return (
            f"{self.path}:{self.fault.line} {self.fault.start} {self.before} -> {self.fault.text}"
        )


class Trace:
    """Which tests execute a line, and what they cost."""

    def __init__(self, file: Path) -> None:
        trace = json.loads(file.read_text())
        self.seconds: dict[str, float] = trace["seconds"]
        self.fixtures: dict[str, list[str]] = trace["fixtures"]
        self.fixture_seconds: dict[str, float] = trace["fixture_seconds"]
        self.lines: dict[str, dict[str, list[str]]] = trace["lines"]
        self._users: dict[str, list[str]] = defaultdict(list)
        for test, fixtures in self.fixtures.items():
            for fixture in fixtures:
                self._users[fixture].append(test)

    def tests_of(self, path: str, line: int) -> list[str]:
        """Return the tests of a line; of one that imports execute, the tests of its file."""
        lines = self.lines.get(path, {})
        contexts = lines.get(str(line), [])
        if not contexts or "" in contexts:
            contexts = sorted({name for names in lines.values() for name in names if name})
            if not lines.get(str(line)):
                return []
        tests = {test for name in contexts for test in self._users.get(name, [name])}
        return sorted(test for test in tests if test in self.seconds)

    def affordable(self, tests: list[str], seconds: float) -> tuple[list[str], float]:
        """Return the tests of the cheapest files, as many as fit into `seconds`, and their sum."""
        files = defaultdict(list)
        for test in tests:
            files[test.split("::")[0]].append(test)
        cost = {file: self._seconds_of(tests) / len(tests) for file, tests in files.items()}
        chosen, spent, paid = [], 0.0, set[str]()
        for file in sorted(files, key=lambda file: (cost[file], file)):
            for test in sorted(files[file], key=lambda test: (self.seconds[test], test)):
                new = set(self.fixtures.get(test, [])) - paid
                price = self.seconds[test] + sum(self.fixture_seconds.get(name, 0) for name in new)
                if not chosen or spent + price <= seconds:
                    chosen.append(test)
                    spent += price
                    paid |= new
        return chosen, spent

    def _seconds_of(self, tests: list[str]) -> float:
        """Return what `tests` take, with what they share."""
        shared = {name for test in tests for name in self.fixtures.get(test, [])}
        return sum(self.seconds[test] for test in tests) + sum(
            self.fixture_seconds.get(name, 0) for name in shared
        )


class Tracer:
    """A plug-in of pytest that tells coverage which test runs."""

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = {}
        self.fixtures: dict[str, list[str]] = {}
        self.fixture_seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self._context = [""]
        self._in_fixtures = 0.0

    @contextlib.contextmanager
    def _as(self, context: str) -> Iterator[None]:
        self._context.append(context)
        self.coverage.switch_context(context)
        try:
            yield
        finally:
            self._context.pop()
            self.coverage.switch_context(self._context[-1])

    def hooks(self) -> Any:
        """Return the plug-in; pytest is imported by the caller."""
        import pytest

        tracer = self

        class Hooks:
            @pytest.hookimpl(wrapper=True)
            def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
                tracer.fixtures[item.nodeid] = _shared_fixtures(item)
                tracer._in_fixtures, start = 0.0, time.perf_counter()
                with tracer._as(item.nodeid):
                    result = yield
                elapsed = time.perf_counter() - start
                tracer.seconds[item.nodeid] = round(elapsed - tracer._in_fixtures, 4)
                return result

            @pytest.hookimpl(wrapper=True)
            def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
                if fixturedef.scope == "function":
                    return (yield)
                start, name = time.perf_counter(), _fixture_name(fixturedef)
                outer = tracer._in_fixtures
                with tracer._as(name):
                    result = yield
                elapsed = time.perf_counter() - start
                tracer.fixture_seconds[name] += elapsed - (tracer._in_fixtures - outer)
                tracer._in_fixtures = outer + elapsed
                return result

            def pytest_runtest_logreport(self, report: Any) -> None:
                if report.failed or report.skipped:
                    tracer.failed.add(report.nodeid)

        return Hooks()


def _fixture_name(fixturedef: Any) -> str:
    return f"fixture {fixturedef.baseid} {fixturedef.argname}"


def _shared_fixtures(item: Any) -> list[str]:
    """Return what `item` asks for that other tests get too."""
    info = getattr(item, "_fixtureinfo", None)
    definitions = [found[-1] for found in info.name2fixturedefs.values()] if info else []
    return sorted(_fixture_name(found) for found in definitions if found.scope != "function")


def trace(options: argparse.Namespace) -> None:
    """Run the tests under coverage, and write which lines each executes."""
    import coverage

    os.chdir(options.tree)
    sys.path.insert(0, str(options.tree / "src"))
    package = options.tree / "src" / "automata"
    measured = coverage.Coverage(data_file=None, source=[str(package)], branch=False)
    tracer = Tracer(measured)
    measured.start()
    import pytest

    code = pytest.main(["-q", "-p", "no:cacheprovider", *options.tests], plugins=[tracer.hooks()])
    measured.stop()
    data = measured.get_data()
    lines = {
        str(Path(file).relative_to(package)): {
            str(line): sorted(names) for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    total = {str(Path(f).relative_to(package)): _statements(measured, f) for f in lines_of(package)}
    passed = {t: s for t, s in tracer.seconds.items() if t not in tracer.failed}
    written = {
        "seconds": passed,
        "fixtures": tracer.fixtures,
        "fixture_seconds": tracer.fixture_seconds,
        "lines": lines,
        "statements": total,
    }
    options.output.write_text(json.dumps(written))
    executed = sum(hit for hit, _ in total.values())
    statements = sum(number for _, number in total.values())
    print(f"pytest: {code}; {len(passed)} tests, {sum(tracer.seconds.values()):.0f} s")
    print(f"executed: {executed} of {statements} statements, {100 * executed / statements:.2f} %")


def lines_of(package: Path) -> list[str]:
    """Return the modules of `package`."""
    return sorted(str(file) for file in package.rglob("*.py"))


def _statements(measured: Any, file: str) -> tuple[int, int]:
    """Return how many statements of `file` were executed, and how many there are."""
    _, statements, _, missing, _ = measured.analysis2(file)
    return len(statements) - len(missing), len(statements)


def sample(tree: Path, number: int, seed: int) -> list[Mutant]:
    """Return `number` mutants of each of FOLDERS, at most one a line."""
    package = tree / "src" / "automata"
    chosen = []
    for folder in FOLDERS:
        by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        for file in sorted((package / folder).rglob("*.py")):
            source, path = file.read_bytes(), str(file.relative_to(package))
            for fault in faults(source):
                before = source[fault.start : fault.end].decode()
                by_line[path, fault.line].append(Mutant(path, fault, before))
        draw = random.Random(f"{seed} {folder}")
        lines = draw.sample(sorted(by_line), min(number, len(by_line)))
        chosen += [draw.choice(by_line[line]) for line in lines]
    random.Random(seed).shuffle(chosen)  # so that a part of them says something of all folders
    return chosen


def run(options: argparse.Namespace) -> None:
    """Try each mutant of the sample that the output does not have."""
    traced = Trace(options.trace)
    tried = _results(options.output)
    hints = {name: row["test"] for name, row in _results(options.hint).items() if row.get("test")}
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        package = Path(folder) / "src" / "automata"
        shutil.copytree(options.tree / "src" / "automata", package)
        compileall.compile_dir(package, quiet=2)
        for mutant in sample(options.tree, options.number, options.seed):
            if mutant.name not in tried:
                row = _try(mutant, package, traced, hints.get(mutant.name), options)
                with options.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row["fate"], mutant.name.replace("\n", " ")[:150], flush=True)


def _try(
    mutant: Mutant, package: Path, traced: Trace, hint: str | None, options: argparse.Namespace
) -> dict[str, Any]:
    """Return what became of a mutant."""
    touching = traced.tests_of(mutant.path, mutant.fault.line)
    tests, spent = traced.affordable(touching, options.seconds)
    start = time.perf_counter()
    fate, killer = "not executed", None
    if hint in traced.seconds:
        fate, killer = _fate(mutant, package, [hint], traced.seconds[hint] + 30, options)
    if tests and fate not in ("killed", "hangs"):
        fate, killer = _fate(mutant, package, tests, spent, options)
    return {
        "name": mutant.name,
        "folder": mutant.path.split("/")[0],
        **asdict(mutant.fault),
        "fate": fate,
        "test": killer,
        "tests": len(tests),
        "touching": len(touching),
        "seconds": round(time.perf_counter() - start, 2),
    }


def _fate(
    mutant: Mutant, package: Path, tests: list[str], spent: float, options: argparse.Namespace
) -> tuple[str, str | None]:
    """Return how `tests` end with a mutant, and the one that found it."""
    file = package / mutant.path
    source = file.read_bytes()
    cached = Path(importlib.util.cache_from_source(str(file)))
    cached.unlink(missing_ok=True)
    file.write_bytes(mutant.fault.in_source(source))
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        told = Path(scratch) / "killer"
        child = os.fork()
        if child == 0:
            _in_child(package, tests, told, scratch, options.tree)
        code = _wait(child, 30 + PATIENCE * spent)
        killer = told.read_text() if told.exists() else None
    file.write_bytes(source)
    if code is None:
        return "hangs", None
    return {0: "survived", 5: "no tests"}.get(code, "killed"), killer


def _in_child(package: Path, tests: list[str], told: Path, scratch: str, tree: Path) -> None:
    """Run `tests` with the package in `package`, and end the process with pytest's code."""
    os.setsid()
    os.chdir(tree)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(package.parent))
    os.environ.update(
        PYTHONPATH=str(package.parent),
        PYTHONDONTWRITEBYTECODE="1",
        HYPOTHESIS_STORAGE_DIRECTORY=f"{scratch}/hypothesis",
        TMPDIR=scratch,
    )
    tempfile.tempdir = scratch
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    import pytest

    wanted = {test: place for place, test in enumerate(tests)}

    class Chosen:
        def pytest_collection_modifyitems(self, items: list[Any]) -> None:
            items[:] = [item for item in items if item.nodeid in wanted]
            items.sort(key=lambda item: wanted[item.nodeid])

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed and not told.exists():
                told.write_text(report.nodeid)

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed and not told.exists():
                told.write_text(report.nodeid)

    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", *files]
    os._exit(int(pytest.main(arguments, plugins=[Chosen()])))


def _wait(child: int, seconds: float) -> int | None:
    """Return the exit code of `child`, or None where it must be killed after `seconds`."""
    import psutil

    end = time.monotonic() + seconds
    process = psutil.Process(child)
    family: list[Any] = []
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _kill(family)
            return os.waitstatus_to_exitcode(status)
        with contextlib.suppress(psutil.NoSuchProcess):
            family = process.children(recursive=True)
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    _kill(family)
    return None


def _kill(family: list[Any]) -> None:
    """Kill what a mutant's tests have started and left."""
    import psutil

    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def _results(file: Path | None) -> dict[str, dict[str, Any]]:
    if file is None or not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return {row["name"]: row for row in rows}


def show(options: argparse.Namespace) -> None:
    """Print how many were found, and which were not."""
    rows = _results(options.results).values()
    for folder in FOLDERS:
        fates = Counter(row["fate"] for row in rows if row["folder"] == folder)
        print(f"{folder:10}", ", ".join(f"{fates[fate]} {fate}" for fate in sorted(fates)))
    found = sum(row["fate"] in ("killed", "hangs") for row in rows)
    print(f"{found} of {len(rows)} found")
    for row in rows:
        if row["fate"] not in ("killed", "hangs"):
            print(row["fate"], row["tests"], "tests", row["name"])


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    tracing = commands.add_parser("trace")
    tracing.set_defaults(command=trace)
    tracing.add_argument("tests", nargs="*", default=["tests/unit"])
    running = commands.add_parser("run")
    running.set_defaults(command=run)
    running.add_argument("--trace", type=Path, required=True)
    running.add_argument("--hint", type=Path)
    running.add_argument("--number", type=int, default=50, help="of each folder")
    running.add_argument("--seed", type=int, default=1)
    running.add_argument("--seconds", type=float, default=30)
    for command in (tracing, running):
        command.add_argument("--tree", type=Path, default=ROOT)
        command.add_argument("--output", type=Path, required=True)
    showing = commands.add_parser("show")
    showing.set_defaults(command=show)
    showing.add_argument("results", type=Path)
    options = parser.parse_args()
    options.command(options)


if __name__ == "__main__":
    main()
