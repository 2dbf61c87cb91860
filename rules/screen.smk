"""Where the package is, and what a call says on the screen."""

from pathlib import Path

from snakemake.logging import logger

ROOT = Path(str(workflow.current_basedir)).parent
sys.path.insert(0, str(ROOT / "src"))

from automata.failures import Interrupt
from automata.screen import Screen, other_call

SCREEN = Screen(logger)


def check_unlock():
    """End with one line if somebody would unlock what another call is working on."""
    holder = other_call(Path.cwd()) if "--unlock" in sys.argv else None
    if holder:
        sys.exit(f"--unlock: {holder}: wait for it, or end it")


check_unlock()


onerror:
    SCREEN.conclude()


onsuccess:
    SCREEN.succeed()
