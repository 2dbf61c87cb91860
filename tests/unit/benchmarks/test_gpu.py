"""`make gpu` on the pretended GPU: it reports all checks, and they can fail."""

import pytest

from automata.config.sections import Compute
from automata.errors import UserError
from benchmarks.gpu import proof
from benchmarks.gpu.checks import Finding
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


@pytest.mark.slow
def test_epochs_are_measured():
    with pretended_cuda():
        plain, ours = epoch_rows(images(40, 5), {"float32": Compute()}, rounds=1)
    assert (plain["by"], ours["by"]) == (PLAIN, "float32")
    assert all(row[f"{it} epoch s"] > 0 for row in (plain, ours) for it in ("full", "10 %"))
    assert 0 < ours[LOSS] < 5
