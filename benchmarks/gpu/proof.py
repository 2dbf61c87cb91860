"""`make gpu`: what a GPU must show before its numbers are believed, and how fast it is.

Each finding is kept as it is made. What is as it should be is not looked at again on the same card
with the same software and code: a call that was cut short goes on with the rest. `report.md` has
all findings.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from automata.config.machine import Compute
from automata.errors import UserError
from automata.failures import explain
from automata.files import write_text
from automata.metering.gpus import gpu_models
from automata.numerics import numerics
from automata.provenance import git_state
from automata.training.device import choose_device, seen, take_device
from automata.versions import MEASUREMENT
from benchmarks.gpu.checks import CHECKS, ROOT, Place
from benchmarks.report import Row, host, markdown_table

HERE = Path(__file__).parent
RESULTS = ROOT / "results/gpu"

GOOD, BAD, NOT_RUN = "as it should be", "not as it should be", "not run"


def main(arguments: Sequence[str] | None = None) -> None:
    """Look at what was not looked at yet, and write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.proof", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="begin nothing after these")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the report")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--pretended", action="store_true", help="the GPU is no hardware")
    options = parser.parse_args(arguments)
    try:
        take_device(choose_device(Compute(device="cuda"), "image"))
    except UserError as error:
        sys.exit(f"make gpu: {error}")
    name = "-".join(re.findall(r"[a-z0-9]+", torch.cuda.get_device_name().lower()))
    folder = options.results / name
    checks = sha256(b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))).hexdigest()
    here = {
        "measurement": MEASUREMENT,
        "checks": checks,
        "quick": options.quick,
        "gpu": gpu_models([]),
        **numerics(),
    }
    end = time.monotonic() + 60 * options.minutes
    findings = {}
    for check in CHECKS:
        findings[check] = _found(check, folder, here, end, options)
        print(f"{check}: {findings[check]['verdict']}: {findings[check]['text']}", flush=True)
        write_text(folder / "report.md", _report(findings, here))
    print(f"{folder / 'report.md'}")
    sys.exit(any(finding["verdict"] == BAD for finding in findings.values()))


def _found(
    check: str, folder: Path, here: dict[str, Any], end: float, options: argparse.Namespace
) -> dict[str, Any]:
    """Return what a check finds, or found when all was as it is now."""
    function, hardware = CHECKS[check]
    file = folder / f"{'-'.join(re.findall(r'[a-z]+', check.lower()))}.json"
    if file.exists():
        known: dict[str, Any] = json.loads(file.read_text())
        if known["verdict"] == GOOD and known["here"] == json.loads(json.dumps(here)):
            return known
    if hardware and options.pretended:
        return {"verdict": NOT_RUN, "text": "this takes a GPU of hardware"}
    left = end - time.monotonic()
    if left <= 0:
        return {"verdict": NOT_RUN, "text": "no time was left: call again"}
    start = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="automata-gpu-") as work:
            finding = function(Place(Path(work), left + 120, options.quick))
        verdict, text, rows = GOOD if finding.good else BAD, finding.text, finding.rows
    except Exception as error:  # one check must not end the others
        logging.getLogger(__name__).exception("%s", check)
        verdict, text, rows = BAD, explain(error), []
    found = {"verdict": verdict, "text": text, "rows": rows, "seconds": time.monotonic() - start}
    write_text(file, json.dumps({**found, "here": here}, indent=1))
    return found


def _report(findings: dict[str, dict[str, Any]], here: dict[str, Any]) -> str:
    """Return the report, in Markdown."""
    rows: list[Row] = [
        {
            "check": name,
            "verdict": finding["verdict"],
            "what was found": finding["text"],
            "seconds": finding.get("seconds", "-"),
        }
        for name, finding in findings.items()
    ]
    lines = [f"# {torch.cuda.get_device_name()}", "", *markdown_table(rows)]
    for name, finding in findings.items():
        if finding.get("rows"):
            lines += ["", f"## {name.capitalize()}", "", *markdown_table(finding["rows"])]
    facts = {
        "torch": seen(),
        "driver": ", ".join(here["gpu"]),
        "commit": (git_state(ROOT / "src/automata") or {}).get("commit"),
        **host(torch.get_num_threads()),
    }
    data = (
        "Data: dna is the packaged table; images and sentences are generated with a seed, and "
        "what models learn on them means nothing."
    )
    return "\n".join([*lines, "", data, "", *(f"- {k}: {v}" for k, v in facts.items()), ""])


if __name__ == "__main__":
    main()
