"""One root seed per run; every random stream is derived from it by name."""

from __future__ import annotations

import hashlib
import json


def derive(seed: int, *names: str | int) -> int:
    """Return a seed in [0, 2**31) for the stream called `names` under the root `seed`.

    The same names always give the same stream; other names give an independent one. The
    range is what torch, NumPy and hyperopt all take.
    """
    text = json.dumps([seed, *names])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % 2**31
