"""Where the package is, and what a call says on the screen."""

from pathlib import Path

from snakemake.logging import logger

# Of a Snakefile that is read from a git repository there is no folder: the package is installed.
ROOT = Path(str(workflow.current_basedir)).parent
if (ROOT / "src").is_dir():
    sys.path.insert(0, str(ROOT / "src"))

from automata.config.files import SHIPPED
from automata.failures import Interrupt
from automata.screen import Screen, other_call

CONFIG = ROOT / "config" if (ROOT / "config").is_dir() else SHIPPED
DEFAULTS = CONFIG / "config.yaml"
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
