"""The commands of README.md, as a reader pastes them."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks() -> list[list[str]]:
    """Return the lines of each block of code, without their comments."""
    found = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    return [[re.sub(r"\s+#.*", "", line) for line in block.splitlines()] for block in found]


def block_of(command: str) -> list[str]:
    """Return the block that has a line which begins with `command`."""
    (found,) = [block for block in blocks() if any(line.startswith(command) for line in block)]
    return found
