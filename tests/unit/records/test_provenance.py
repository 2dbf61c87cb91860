"""The provenance of a record."""

import hashlib
import subprocess

import psutil
import torch

from automata import __version__
from automata.records import provenance
from automata.records.provenance import git_state


def test_code_packages_and_host_are_recorded(tmp_path, monkeypatch):
    lock = tmp_path / "requirements.lock"
    lock.write_text("torch==2.13\n")
    assert provenance.LOCK.is_file()
    monkeypatch.setattr(provenance, "LOCK", lock)
    monkeypatch.setattr(provenance, "PACKAGES", ("torch", "not-a-package"))
    recorded = provenance.provenance("rs2")
    assert recorded["automata"] == __version__
    assert recorded["measurement"].keys() == {"training", "metering", "rs2"}
    assert recorded["packages"] == {"torch": torch.__version__, "not-a-package": None}
    assert recorded["lock_sha256"] == hashlib.sha256(b"torch==2.13\n").hexdigest()
    assert recorded["memory_mib"] == psutil.virtual_memory().total // 2**20
    lock.unlink()
    assert provenance.provenance("full")["lock_sha256"] is None


def test_folder_outside_the_projects_checkout_has_no_git_state(tmp_path):
    assert git_state(tmp_path) is None
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert git_state(tmp_path) is None
