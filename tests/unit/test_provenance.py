import subprocess

from automata import __version__, provenance
from automata.provenance import git_state


def test_package_that_is_not_installed_has_no_version(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("torch", "not-a-package"))
    packages = provenance.provenance()["packages"]
    assert packages["not-a-package"] is None
    assert packages["torch"] is not None


def test_own_version_needs_no_installation(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ())
    assert provenance.provenance()["automata"] == __version__


def test_git_state_of_a_folder_outside_of_a_checkout_is_none(tmp_path):
    assert git_state(tmp_path) is None


def test_git_state_of_somebody_elses_checkout_is_none(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert git_state(tmp_path) is None
