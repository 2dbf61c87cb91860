"""Made-up searches in the format of the published ones of the study."""

import gzip
import json

import numpy as np

PANELS = ("optdigits", "penbased", "magic", "fashion-mlp", "fashion-convnet")
ROWS = 400
METHODS = ("random", "full", "asha", "one-epoch", "rs2", "u6", "u7", "s3")
FRESH = ("u6", "u7", "s3")
"""Their choices are fresh trainings."""


def write_study(folder, lost=None, no_gain=()):
    """Write random searches; return the test rows that the choices get right.

    A fresh training loses one row or two against FULL, or `lost[panel, method, size]` rows. In the
    panels `no_gain` FULL is no better than other configurations.
    """
    random, lost, right = np.random.default_rng(0), lost or {}, {}
    (folder / "rows").mkdir(parents=True)
    for panel in PANELS:
        lines, members = [], []
        for size, count in ((27, 24), (81, 8), (243, 2)):
            for number in range(count):
                if size == 27:
                    members.append(random.random((27, ROWS)) < 0.7)
                    members[-1][5] |= (panel not in no_gain) & (random.random(ROWS) < 0.7)
                few = size // 27
                tried = np.concatenate(members[few * number : few * (number + 1)])
                full = 27 * int(random.integers(few)) + 5
                trials = {method: int(random.integers(size)) for method in METHODS}
                trials |= {"full": full, **{it: full - 3 + FRESH.index(it) for it in FRESH}}
                fresh = {}
                for method in FRESH:
                    worse = lost.get((panel, method, size), random.integers(1, 3))
                    made = fresh[trials[method]] = tried[full].copy()
                    made[random.permutation(np.flatnonzero(made))[:worse]] = False
                for method, trial in trials.items():
                    made = fresh[trial] if method in FRESH else tried[trial]
                    right[panel, size, number, method] = made
                line = {
                    "size": size,
                    "number": number,
                    "commit": "made",
                    "test_rows": ROWS,
                    "methods": {
                        method: {
                            "trial": trial,
                            "fresh": method in FRESH,
                            "samples": int(random.integers(100, 1000)),
                            "cpu_seconds": float(random.integers(10, 100)),
                        }
                        for method, trial in trials.items()
                    },
                    "fresh_test_right": {str(it): int(fresh[it].sum()) for it in sorted(fresh)},
                }
                bits = {"fresh": np.packbits([fresh[it] for it in sorted(fresh)], axis=1)}
                if size == 27:
                    line["test_right"] = tried.sum(axis=1).tolist()
                    bits["full"] = np.packbits(tried, axis=1)
                lines.append(json.dumps(line))
                np.savez(folder / f"rows/{panel}-{size}-{number}.npz", **bits)
        (folder / f"{panel}.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return right
