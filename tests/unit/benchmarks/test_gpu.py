"""`make gpu` on the pretended GPU: it reports all checks, and they can fail."""

import pytest

from automata.config.sections import Compute
from automata.errors import UserError
from benchmarks.gpu import checks, proof
from benchmarks.gpu.checks import Finding, epochs
from benchmarks.gpu.epochs import LOSS, PLAIN, epoch_rows
from benchmarks.workloads import images
from support.pretence import pretended_cuda


def bad(folder, quick):
    raise UserError("no such thing")


def good(folder, quick):
    return Finding(True, "fine", [{"ms": 1.5}])


@pytest.mark.parametrize(("failing", "status"), [(bad, True), (good, False)])
def test_all_checks_are_reported(monkeypatch, tmp_path, failing, status):
    known = {"first": (failing, False), "second": (good, False), "hard": (bad, True)}
    monkeypatch.setattr(proof, "CHECKS", known)
    with pretended_cuda(), pytest.raises(SystemExit) as end:
        proof.main(["--quick", "--results", str(tmp_path)])
    report = (tmp_path / "nvidia-pretended/report.md").read_text()
    assert end.value.code == status
    assert ("| first | not as it should be | no such thing |" in report) == status
    assert "| second | as it should be | fine |" in report
    assert "## Second\n\n| ms |\n| --- |\n| 1.5 |" in report
    assert "hard" not in report  # takes hardware


@pytest.mark.parametrize(
    ("times", "loss", "fine"), [(1.1, 2.1, True), (0.7, 2.1, False), (1.1, 3.0, False)]
)
def test_epochs_that_are_slow_or_lose_otherwise_are_not_as_they_should_be(
    monkeypatch, tmp_path, times, loss, fine
):
    speed = "full epoch: times as fast"
    rows = [{speed: 1.0}, {speed: 1.0, LOSS: 2.0}, {speed: times, LOSS: loss}]
    monkeypatch.setattr(checks, "epoch_rows", lambda workload, ways, rounds: rows)
    monkeypatch.setattr(checks.workloads, "images", lambda rows: images(8, 5))
    assert epochs(tmp_path, False, {}).good == fine


def test_epochs_are_measured():
    with pretended_cuda():
        plain, ours = epoch_rows(images(40, 5), {"float32": Compute()}, rounds=1)
    assert (plain["by"], ours["by"]) == (PLAIN, "float32")
    assert all(row[f"{it} epoch s"] > 0 for row in (plain, ours) for it in ("full", "10 %"))
    assert 0 < ours[LOSS] < 5
