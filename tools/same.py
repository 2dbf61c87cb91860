"""`python tools/same.py BASE`: compare what the working tree and commit BASE make.

It prints a line for each proof, with the files that differ and a command that shows how, and ends
with 1 if there are any. results/work/same keeps what both make until the next call.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = ROOT / "results/work/same"

PROOFS = {
    "plans": "outputs and parameters of planned jobs",
    "errors": "messages about wrong inputs",
    "records": "published records, read and written",
    "redraw": "tables, figures and pages made of published records",
}
"""The functions of side.py, and what they make."""


def main() -> None:
    """Run both versions, and print the files that differ."""
    parser = argparse.ArgumentParser(prog="python tools/same.py", description=__doc__)
    parser.add_argument("base", metavar="BASE", help="commit to compare with")
    parser.add_argument("--only", nargs="+", choices=PROOFS, default=PROOFS, help="some proofs")
    options = parser.parse_args()
    shutil.rmtree(MADE, ignore_errors=True)
    base, today = MADE / "base", MADE / "today"
    _unpack(options.base, base / "tree")
    _unpack(_working_tree(), today / "tree")
    equal = True
    for proof in options.only:
        with ThreadPoolExecutor() as pool:
            failed = any(pool.map(partial(_run, proof=proof), (base, today)))
        if failed:
            different = f"failed: see {MADE}/*/{proof}.log\n"
        else:
            different = differences(base / proof, today / proof)
        equal = equal and not different
        print(f"{'differs' if different else 'equal':8}{proof:8}{PROOFS[proof]}")
        print(different, end="", flush=True)
    sys.exit(0 if equal else 1)


def differences(base: Path, today: Path) -> str:
    """Return the names of the files that differ in two folders, and a command that shows how."""
    command = ["git", "diff", "--no-index", "--word-diff", "--word-diff-regex=[^, ]+"]
    names = subprocess.run(
        [*command, "--stat=150", base, today], stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    return names and f"{names}{' '.join(command)} {base} {today}\n"


def _run(side: Path, proof: str) -> int:
    """Run a function of side.py in the tree of a side, and return its exit status."""
    tree, made = side / "tree", side / proof
    made.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).with_name("side.py")), proof, str(made)]
    with (side / f"{proof}.log").open("w") as log:
        ended = subprocess.run(
            command, cwd=tree, env=environment, stdout=log, stderr=log, check=False
        )
    shutil.rmtree(made / "work", ignore_errors=True)
    return ended.returncode


def _working_tree() -> str:
    """Return the hash of a tree with all files that git does not ignore."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        _git("add", "--all", **index)
        return _git("write-tree", **index)


def _unpack(tree: str, folder: Path) -> None:
    """Write all files of a commit or tree to `folder`."""
    with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
        _git("archive", "--output", packed.name, tree)
        shutil.unpack_archive(packed.name, folder)


def _git(*arguments: str, **environment: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
