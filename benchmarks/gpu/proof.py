"""`make gpu`: can the numbers of this GPU be trusted, and how fast is it?"""

from __future__ import annotations

import argparse
import gc
import logging
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from automata.allocation import gpu_models
from automata.config.sections import Compute
from automata.errors import UserError, known_reason, unexpected_reason
from automata.files import write_text
from automata.records.provenance import git_state
from automata.training.device import choose_device, seen, take_device
from benchmarks.gpu.checks import CHECKS, ROOT, Finding
from benchmarks.report import Row, host, markdown_table


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all checks; write the report after each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.proof", description=__doc__)
    parser.add_argument(
        "--results", type=Path, default=ROOT / "results/gpu", help="folder of the report"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, without a GPU")
    options = parser.parse_args(arguments)
    try:
        take_device(choose_device(Compute(device="cuda"), "image"))
    except UserError as error:
        sys.exit(f"make gpu: {error}")
    name = "-".join(re.findall(r"[a-z0-9]+", torch.cuda.get_device_name().lower()))
    report = options.results / name / "report.md"
    good = True
    rows: list[Row] = []
    tables: list[str] = []
    for check in [it for it, (_, hardware) in CHECKS.items() if not (hardware and options.quick)]:
        start = time.monotonic()
        finding = _finding(check, options.quick)
        good = good and finding.good
        verdict = "as it should be" if finding.good else "not as it should be"
        seconds = time.monotonic() - start
        row = {"check": check, "verdict": verdict, "finding": finding.text, "seconds": seconds}
        rows.append(row)
        if finding.rows:
            tables += ["", f"## {check.capitalize()}", "", *markdown_table(finding.rows)]
        print(f"{check}: {verdict}: {finding.text}", flush=True)
        write_text(report, _report(rows, tables))
    print(report)
    sys.exit(not good)


def _finding(check: str, quick: bool) -> Finding:
    """Free the GPU's memory, and return the result of a check."""
    gc.collect()
    torch.cuda.empty_cache()
    try:
        with tempfile.TemporaryDirectory(prefix="automata-gpu-") as work:
            return CHECKS[check][0](Path(work), quick)
    except Exception as error:  # one check must not end the others
        logging.getLogger(__name__).exception("%s", check)
        return Finding(False, known_reason(error) or unexpected_reason(error))


def _report(rows: list[Row], tables: list[str]) -> str:
    """Return the report, in Markdown."""
    facts = {
        "torch": seen(),
        "driver": ", ".join(gpu_models()),
        "commit": (git_state(ROOT / "src/automata") or {}).get("commit"),
        **host(torch.get_num_threads()),
    }
    data = (
        "Data: dna is the packaged table; images and sentences are generated with a seed, and "
        "what models learn on them means nothing."
    )
    lines = [f"# {torch.cuda.get_device_name()}", "", *markdown_table(rows), *tables, "", data, ""]
    return "\n".join([*lines, *(f"- {k}: {v}" for k, v in facts.items()), ""])


if __name__ == "__main__":
    main()
