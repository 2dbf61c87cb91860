"""The proofs behind declared equivalences: replayed searches, and two versions of the code."""

from __future__ import annotations

import shutil
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automata.code_versions import DECISIONS, NUMBERS, Equivalence, code_versions, origin
from automata.errors import UserError
from automata.models import MODELS
from automata.names import METHODS
from automata.records import Record, read_record
from automata.tuning import SCHEDULERS, SEARCHES
from benchmarks.equivalence import proof
from benchmarks.equivalence.__main__ import main
from benchmarks.equivalence.cases import jobs, trainings
from benchmarks.equivalence.proof import ROOT, Compared, checkout, entries, numbers, times
from support.replay import differences

REFERENCE = ROOT / "results/reference"


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    """A search and a draw of each data set, search and scheduler that is published."""
    file = tmp_path_factory.mktemp("records") / "record.json"
    found: dict[str, list[Record]] = {}
    for archive in REFERENCE.glob("*/records.tar.xz"):
        seen = set()
        with tarfile.open(archive) as tar:
            for entry in tar:
                dataset, method, selector, *_ = Path(entry.name).parts
                chosen = dataset, method, "untuned" in selector
                if chosen not in seen:
                    seen.add(chosen)
                    content = tar.extractfile(entry)
                    assert content is not None
                    file.write_bytes(content.read())
                    found.setdefault(archive.parent.name, []).append(read_record(file))
    return found


def test_todays_code_decides_and_computes_what_the_published_did(
    records: dict[str, list[Record]],
) -> None:
    """Of training alone times are not declared equal: benchmarks/README.md says by how much."""
    claims = {DECISIONS, NUMBERS}
    today = origin("training", code_versions()["training"], claims)
    other = {
        part
        for record in records["protocol"]
        for part in record.other_code
        if part != "training" or origin(part, record.provenance["code"][part], claims) != today
    }
    commit = records["protocol"][0].provenance["git"]["commit"][:7]
    if other:
        pytest.fail(
            f"the code of {', '.join(sorted(other))} is not that of the published records: `python "
            f"-m benchmarks.equivalence --base {commit}` proves what it still does, and prints the "
            "entries for EQUIVALENCES in src/automata/code_versions.py",
            pytrace=False,
        )


def test_published_searches_decide_in_the_simulation_as_they_did_in_ray(
    records: dict[str, list[Record]],
) -> None:
    replayed = [record for some in records.values() for record in some]
    assert [found for record in replayed for found in differences(record)] == []
    searched = Counter(record.job.run.searches for record in replayed)
    # Five data sets, of one TPE alone once more, and four under two schedulers.
    assert searched == {True: 30, False: 30}


@pytest.fixture
def changed(records: dict[str, list[Record]]) -> Callable[..., list[str]]:
    """Give a function that replays a search under ASHA with something changed in its JSON."""
    record = next(r for r in records["protocol"] if r.job.run.scheduler == "asha")

    def differences_with(change: Callable[[dict[str, Any]], Any]) -> list[str]:
        content = record.model_dump(mode="json")
        change(content)
        return differences(Record.model_validate(content))

    return differences_with


def first(record: dict[str, Any]) -> dict[str, Any]:
    trial: dict[str, Any] = record["tuning"]["trials"][0]
    return trial


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda r: r["job"]["run"].update(seed=99), "trial 0: configuration "),
        (lambda r: first(r)["rungs"].append(999), "trial 0: rungs [1, "),
        (lambda r: first(r).update(status="stopped"), "trial 0: status completed and stopped"),
        (lambda r: first(r)["progress"]["evaluations"].pop(), "a trial goes on that had stopped"),
        (
            lambda r: first(r)["progress"]["evaluations"].append(
                first(r)["progress"]["evaluations"][0]
            ),
            "trial 0: results ",
        ),
        (lambda r: r["tuning"].update(best=r["tuning"]["best"] - 1), "best "),
        (
            lambda r: first(r)["progress"]["evaluations"][0].update(finished_at=4e9),
            "results in another order",
        ),
    ],
)
def test_replay_names_what_comes_out_otherwise(
    changed: Callable[..., list[str]], change: Callable[[dict[str, Any]], Any], found: str
) -> None:
    assert changed(lambda record: None) == []
    assert [text for text in changed(change) if text.startswith(found)] != []


def test_cases_cover_every_selector_model_search_and_scheduler() -> None:
    cases = [*trainings(), *jobs()]
    runs = [case["job"]["run"] for case in cases]
    assert {run["selector"] for run in runs} == set(METHODS)
    of_jobs = [case["job"]["run"] for case in jobs()]
    assert {run["search"] for run in of_jobs} == set(SEARCHES)
    newer = {"sha", "one-epoch"}  # than the code that published records are of
    assert {run["scheduler"] for run in of_jobs} == set(SCHEDULERS) - newer
    models = [case["job"]["settings"]["protocol"]["model"] for case in cases]
    assert {model for model in models if isinstance(model, str)} == set(MODELS)
    assert any(isinstance(model, dict) for model in models)
    assert len({case["name"] for case in cases}) == len(cases)


def test_code_that_trains_otherwise_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    chosen = [case for case in trainings() if case["name"] == "mlp, rs2, no warm start"]
    monkeypatch.setattr(proof, "trainings", lambda: chosen)
    monkeypatch.setattr(proof, "jobs", list)
    seeds = tmp_path / "src/automata/seeds.py"
    seeds.write_text(seeds.read_text().replace("digest_size=8", "digest_size=7"))
    (other,) = numbers(ROOT, tmp_path)

    assert not other.equal
    assert other.outcome.startswith("in one run.progress.training_loss[0]: ")


def driven(costs: dict[Path, list[float]]) -> Callable[..., Any]:
    """Return a `drive` that reports these wall seconds, one after the other, and 10 CPU seconds."""

    def drive(folder: Path, **orders: Any) -> Any:
        seconds = {"wall": costs[folder].pop(0), "CPU": 10.0, "estimated energy": 4.0}
        return {"timed": {"default": seconds}}

    return drive


@pytest.mark.parametrize(("wall", "equal"), [(10.29, True), (10.31, False), (9.7, False)])
def test_times_are_equal_within_three_percent_in_the_median(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wall: float, equal: bool
) -> None:
    # The first round warms up; of three more the median counts.
    costs = {tmp_path: [99.0, 10.0, 10.0, 10.0], ROOT: [1.0, wall, 50.0, 1.0]}
    monkeypatch.setattr(proof, "drive", driven(costs))
    rows = times(tmp_path, ROOT, 3)
    assert [(row.claim, row.what, row.equal) for row in rows] == [
        ("times", "job: wall", equal),
        ("times", "job: CPU", True),
        ("estimated energy", "job: estimated energy", True),
    ]


def test_entries_claim_what_was_proven_of_the_parts_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = {
        tmp_path: {"selection": "s", "training": "old", "metering": "m0"},
        ROOT: {"selection": "s", "training": "new", "metering": "m1"},
    }
    monkeypatch.setattr(proof, "drive", lambda folder: {"code": codes[folder]})
    rows = [
        Compared("decisions", "replay", "the same", True),
        Compared("numbers", "training", "the same", True),
        Compared("numbers", "job", "1 and 2", False),
        Compared("times", "job", "1.0", True),
        Compared("estimated energy", "job", "1.0", True),
    ]
    found = eval(f"({entries(rows, tmp_path, ROOT, 'c0ffee')})", {"Equivalence": Equivalence})
    assert [(e.part, e.new, e.old, set(e.covers)) for e in found] == [
        ("training", "new", "old", {"decisions", "times"}),
        ("metering", "m1", "m0", {"times", "estimated energy"}),
    ]


def test_base_that_is_no_commit_ends_in_one_line() -> None:
    with pytest.raises(UserError, match=r"^nowhere: no commit"), checkout("nowhere"):
        pass


def test_numbers_without_a_base_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["equivalence", "numbers"])
    with pytest.raises(SystemExit):
        main()
    assert "numbers and times need --base" in capsys.readouterr().err
