"""Seeds of random streams, derived by name from the one seed of a run."""

from __future__ import annotations

import hashlib
import json


def derive(seed: int, *names: str | int) -> int:
    """Return a seed in [0, 2**31) for the stream called `names` under the root `seed`.

    The same names give the same seed, other names an independent one. torch, NumPy and hyperopt
    accept every seed in this range.
    """
    text = json.dumps([seed, *names])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % 2**31
