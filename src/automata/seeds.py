"""Seeds of random streams, derived from the seed of a run and a name."""

from __future__ import annotations

import hashlib
import json


def derive(seed: int, *names: str | int) -> int:
    """Return a seed for the stream `names` under the root `seed`.

    It is in [0, 2**31), which torch, NumPy and hyperopt accept.
    """
    text = json.dumps([seed, *names])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % 2**31
