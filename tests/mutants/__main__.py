"""What the tests notice: a sample of small faults, each tried on the tests of its line.

    python tests/mutants trace --output /tmp/trace.json     # once for a state of the tests
    python tests/mutants run --trace /tmp/trace.json --output /tmp/mutants.jsonl
    python tests/mutants show /tmp/mutants.jsonl

`trace` runs the unit tests and notes their lines of the package and their seconds. `run` draws
faults (mutate.py), the same for one seed and one source, and tries each on the tests of its line:
cheap files first, for at most `--seconds`, to the first failure. It adds to its output, and
continues after an interruption. `--hint` names the output of another run: the test that found a
fault there comes first. So the comparison of two states of the tests costs little.
"""

import argparse
import compileall
import importlib.util
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import coverage
import psutil
import pytest
from mutate import Fault, faults

ROOT = Path(__file__).resolve().parents[2]
TOP = "top level"
LIBRARIES = ("hypothesis", "matplotlib.pyplot", "pandas", "ray.tune", "scipy.stats", "torch")
"""Imported once: each fault is tried in a fork of a process that has them."""
PATIENCE = 4
"""Multiple of the tests' time, beside half a minute, after which a fault counts as found."""
FOUND = ("killed", "hangs")


@dataclass(frozen=True)
class Mutant:
    """A fault in a file of a room of the package."""

    room: str
    path: str
    fault: Fault
    name: str
    """It holds as long as the file stays the same."""


def rooms(package):
    """Return the modules of each room of the package."""
    found = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        first = path.relative_to(package).parts[0]
        found[TOP if first in ("cli", path.name) else first].append(path)
    return found


class Tracer:
    """A plug-in of pytest that names the running test, or shared fixture, to coverage."""

    def __init__(self, measured):
        self.measured = measured
        self.tests = {}
        """Test -> the shared fixtures that it uses."""
        self.seconds = defaultdict(float)
        """Of tests, without their set-up, and of shared fixtures."""
        self._contexts = [""]

    @contextmanager
    def _as(self, context):
        self._contexts.append(context)
        self.measured.switch_context(context)
        try:
            yield
        finally:
            self._contexts.pop()
            self.measured.switch_context(self._contexts[-1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        found = [one[-1] for one in item._fixtureinfo.name2fixturedefs.values()]
        self.tests[item.nodeid] = [_name(one) for one in found if one.scope != "function"]
        with self._as(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        if fixturedef.scope == "function":
            return (yield)
        start = time.perf_counter()
        with self._as(_name(fixturedef)):
            result = yield
        self.seconds[_name(fixturedef)] += time.perf_counter() - start
        return result

    def pytest_runtest_logreport(self, report):
        if report.failed or report.skipped:
            self.tests.pop(report.nodeid, None)
        self.seconds[report.nodeid] += report.duration * (report.when != "setup")


def _name(fixturedef):
    return f"fixture {fixturedef.baseid} {fixturedef.argname}"


def trace(options):
    """Run the tests under coverage, and write the lines of each."""
    os.chdir(options.tree)
    package = options.tree / "src/automata"
    sys.path.insert(0, str(package.parent))
    measured = coverage.Coverage(data_file=None, source=[str(package)], branch=False)
    tracer = Tracer(measured)
    measured.start()
    code = pytest.main(["-q", "-p", "no:cacheprovider", *options.tests], plugins=[tracer])
    measured.stop()
    data = measured.get_data()
    lines = {
        str(Path(file).relative_to(package)): {
            str(line): sorted(names) for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    written = {"tests": tracer.tests, "seconds": tracer.seconds, "lines": lines}
    options.output.write_text(json.dumps(written))
    print(f"pytest: {code}; {len(tracer.tests)} tests")
    for room, files in rooms(package).items():
        counted = [measured.analysis2(str(file)) for file in files]
        missing, all_of_it = (sum(len(one[at]) for one in counted) for at in (3, 1))
        print(f"{room:12} {all_of_it - missing} of {all_of_it} statements are executed")


class Trace:
    """The tests that execute a line, and their cost."""

    def __init__(self, file):
        traced = json.loads(file.read_text())
        self.tests = traced["tests"]
        self.seconds = defaultdict(float, traced["seconds"])
        self._lines = traced["lines"]
        self._users = defaultdict(list)
        for test, fixtures in self.tests.items():
            for name in (test, *fixtures):
                self._users[name].append(test)

    def tests_of(self, path, line):
        """Return the tests of a line; of one that imports execute, the tests of its file."""
        lines = self._lines.get(path, {})
        names = set(lines.get(str(line), []))
        if "" in names:
            names.update(*lines.values())
        return sorted({test for name in names for test in self._users[name]})

    def cost(self, tests):
        """Return the seconds of `tests` with their fixtures."""
        names = {name for test in tests for name in (test, *self.tests[test])}
        return sum(self.seconds[name] for name in names)

    def affordable(self, tests, seconds):
        """Return the tests of the cheapest files, as many as fit into `seconds`, at least one."""
        files = defaultdict(list)
        for test in tests:
            files[test.split("::")[0]].append(test)
        order = sorted(
            (self.cost(some) / len(some), file, self.seconds[test], test)
            for file, some in files.items()
            for test in some
        )
        chosen = []
        for *_, test in order:
            if not chosen or self.cost([*chosen, test]) <= seconds:
                chosen.append(test)
        return chosen


def sample(package, chosen, number, seed):
    """Return `number` mutants of each room, at most one a line."""
    mutants = []
    for room, files in rooms(package).items():
        by_line = defaultdict(list)
        for file in files if room in chosen or not chosen else ():
            source, path = file.read_bytes(), str(file.relative_to(package))
            for fault in faults(source):
                change = f"{source[fault.start : fault.end].decode()} -> {fault.text}"
                name = f"{path}:{fault.line} {fault.start} {change}"
                by_line[path, fault.line].append(Mutant(room, path, fault, name))
        draw = random.Random(f"{seed} {room}")
        lines = draw.sample(sorted(by_line), min(number, len(by_line)))
        mutants += [draw.choice(by_line[line]) for line in lines]
    random.Random(seed).shuffle(mutants)  # so that a part of them represents all rooms
    return mutants


def run(options):
    """Try each mutant of the sample that the output does not have."""
    traced = Trace(options.trace)
    tried = {row["name"] for row in _rows(options.output)}
    hints = {row["name"]: row["test"] for row in _rows(options.hint)}
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        package = Path(folder) / "src/automata"
        shutil.copytree(options.tree / "src/automata", package)
        compileall.compile_dir(package, quiet=2)
        for mutant in sample(package, options.rooms, options.number, options.seed):
            if mutant.name not in tried:
                row = _try(mutant, package, traced, hints.get(mutant.name), options)
                with options.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row["fate"], mutant.name.replace("\n", " ")[:150], flush=True)


def _try(mutant, package, traced, hint, options):
    """Return what became of a mutant."""
    tests = traced.affordable(traced.tests_of(mutant.path, mutant.fault.line), options.seconds)
    fate, killer = "not executed", None
    for some in ([hint] if hint in traced.tests else [], tests):
        if some and fate not in FOUND:
            seconds = 30 + PATIENCE * traced.cost(some)
            fate, killer = _fate(mutant, package, some, seconds, options.tree)
    row = {"name": mutant.name, "room": mutant.room, **asdict(mutant.fault)}
    return {**row, "fate": fate, "test": killer, "tests": len(tests)}


def _fate(mutant, package, tests, seconds, tree):
    """Return how `tests` end with a mutant, and the one that found it."""
    file = package / mutant.path
    source = file.read_bytes()
    Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)
    file.write_bytes(mutant.fault.in_source(source))
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        killer = Path(scratch) / "killer"
        code = _code_of_child(seconds, package, tests, killer, tree)
        name = killer.read_text() if killer.exists() else None
    file.write_bytes(source)
    if code is None:
        return "hangs", None
    return {0: "survived", 5: "no tests"}.get(code, "killed"), name


def _code_of_child(seconds, *arguments):
    """Run the tests in a fork; return pytest's code, None where it must be killed."""
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=arguments)
    child.start()
    family = []
    end = time.monotonic() + seconds
    while child.is_alive() and time.monotonic() < end:
        with suppress(psutil.NoSuchProcess):
            family = psutil.Process(child.pid).children(recursive=True) or family
        child.join(0.05)
    code = child.exitcode
    child.kill()
    child.join()
    for orphan in family:
        with suppress(psutil.NoSuchProcess):
            orphan.kill()
    return code


class Chosen:
    """A plug-in of pytest that runs `tests` in their order, and notes the first that fails."""

    def __init__(self, tests, killer):
        self._place = {test: place for place, test in enumerate(tests)}
        self._killer = killer

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid in self._place]
        items.sort(key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed and not self._killer.exists():
            self._killer.write_text(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport


def _in_child(package, tests, killer, tree):
    """Run `tests` with the package in `package`, and end the process with pytest's code."""
    os.setsid()
    os.chdir(tree)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(package.parent))
    tempfile.tempdir = str(killer.parent)
    os.environ.update(
        PYTHONPATH=str(package.parent),
        PYTHONDONTWRITEBYTECODE="1",
        HYPOTHESIS_STORAGE_DIRECTORY=f"{tempfile.tempdir}/hypothesis",
        TMPDIR=tempfile.tempdir,
    )
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    files = dict.fromkeys(test.split("::")[0] for test in tests)
    arguments = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1", *files]
    os._exit(int(pytest.main(arguments, plugins=[Chosen(tests, killer)])))


def _rows(file):
    if file is None or not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines()]


def show(options):
    """Print how many mutants of each room are found, and which are not."""
    rows = _rows(options.results)
    for room in sorted({row["room"] for row in rows}):
        fates = Counter(row["fate"] for row in rows if row["room"] == room)
        found = sum(fates[fate] for fate in FOUND) / fates.total()
        print(f"{room:12} {found:4.0%}", *(f"{fates[fate]} {fate}" for fate in sorted(fates)))
    found = sum(row["fate"] in FOUND for row in rows)
    print(f"{found} of {len(rows)} found")
    for row in rows:
        if row["fate"] not in FOUND:
            print(row["fate"], row["tests"], "tests", row["name"])


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
commands = parser.add_subparsers(required=True)
tracing, running, showing = (commands.add_parser(it.__name__) for it in (trace, run, show))
tracing.set_defaults(command=trace)
tracing.add_argument("tests", nargs="*", default=["tests/unit"])
running.set_defaults(command=run)
running.add_argument("--trace", type=Path, required=True)
running.add_argument("--hint", type=Path)
running.add_argument("--rooms", nargs="*", default=[], help="all by default")
running.add_argument("--number", type=int, default=50, help="of each room")
running.add_argument("--seed", type=int, default=1)
running.add_argument("--seconds", type=float, default=30)
for command in (tracing, running):
    command.add_argument("--tree", type=Path, default=ROOT)
    command.add_argument("--output", type=Path, required=True)
showing.set_defaults(command=show)
showing.add_argument("results", type=Path)

if __name__ == "__main__":
    given = parser.parse_args()
    given.command(given)
