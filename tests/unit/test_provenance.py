import re
import subprocess
from pathlib import Path

from automata import __version__, provenance
from automata.provenance import git_state


def test_package_that_is_not_installed_has_no_version(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ("torch", "not-a-package"))
    packages = provenance.provenance("full")["packages"]
    assert packages["not-a-package"] is None
    assert packages["torch"] is not None


def test_own_version_needs_no_installation(monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGES", ())
    assert provenance.provenance("full")["automata"] == __version__


def test_git_state_of_a_folder_outside_of_a_checkout_is_none(tmp_path):
    assert git_state(tmp_path) is None


def test_git_state_of_somebody_elses_checkout_is_none(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert git_state(tmp_path) is None


def test_lock_is_that_of_the_checkout(tmp_path, monkeypatch):
    lock = tmp_path / "requirements.lock"
    lock.write_text("torch==2.13\n")
    monkeypatch.setattr(provenance, "LOCK", lock)
    shown = subprocess.run(["sha256sum", lock], capture_output=True, text=True, check=True)
    assert provenance.provenance("full")["lock_sha256"] == shown.stdout.split()[0]


def test_without_a_lock_there_is_no_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "LOCK", tmp_path / "requirements.lock")
    assert provenance.provenance("full")["lock_sha256"] is None


def test_memory_is_that_of_the_host():
    kibibytes = re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())
    assert provenance.provenance("full")["memory_mib"] == int(kibibytes.group(1)) // 1024
