"""`python -m benchmarks.equivalence --base COMMIT`: prove what today's code does as older code.

Prints a table of what was compared, and the entries for `automata.code_versions.EQUIVALENCES`.
`python -m benchmarks.equivalence decisions` replays the published searches alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from automata.errors import UserError
from benchmarks.equivalence.proof import (
    ROOT,
    Compared,
    checkout,
    commit_of_today,
    copy_of_today,
    decisions_by_replay,
    entries,
    numbers,
    times,
)

PROOFS = ("decisions", "numbers", "times")


def main() -> None:
    options = _options()
    rows: list[Compared] = []
    if "decisions" in options.proofs:
        rows += _shown(decisions_by_replay(options.archives, os.cpu_count() or 1))
    if options.base is not None:
        with checkout(options.base) as base, copy_of_today() as today:
            if "numbers" in options.proofs:
                rows += _shown(row for row in numbers(base, today) if row.claim in options.proofs)
            if "times" in options.proofs:
                rows += _shown(times(base, today, options.rounds))
            found = entries(rows, base, today, commit_of_today())
            print(found or "nothing to declare: no part differs, or nothing is equal\n", end="")
    different = [row for row in rows if not row.equal]
    print(f"{len(rows) - len(different)} of {len(rows)} comparisons are equal")
    sys.exit(1 if different else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.equivalence", description=__doc__)
    parser.add_argument("proofs", nargs="*", help="decisions, numbers, times; without any: all")
    parser.add_argument("--base", help="commit of the older code")
    parser.add_argument("--rounds", type=int, default=9, help="jobs of each version for times")
    archives = sorted((ROOT / "results/reference").glob("*/records.tar.xz"))
    parser.add_argument("--archives", type=Path, nargs="+", default=archives)
    options = parser.parse_args()
    options.proofs = options.proofs or list(PROOFS)
    if unknown := set(options.proofs) - set(PROOFS):
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(PROOFS)}")
    if options.base is None and options.proofs != ["decisions"]:
        parser.error("numbers and times need --base, the commit of the older code")
    return options


def _shown(rows: Iterable[Compared]) -> list[Compared]:
    shown = list(rows)
    for row in shown:
        print(f"{'equal' if row.equal else 'OTHER':6}{row.claim:18}{row.what}: {row.outcome}")
    return shown


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
