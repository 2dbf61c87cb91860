"""Where the package is, and what a call says on the screen."""

from pathlib import Path

from snakemake.logging import logger

# Of a Snakefile that is read from a git repository there is no folder: the package is installed.
ROOT = Path(str(workflow.current_basedir)).parent
if (ROOT / "src").is_dir():
    sys.path.insert(0, str(ROOT / "src"))

from automata.config.files import SHIPPED
from automata.failures import Interrupt
from automata.screen import Screen

CONFIG = ROOT / "config" if (ROOT / "config").is_dir() else SHIPPED
DEFAULTS = CONFIG / "config.yaml"
SCREEN = Screen(logger)


onerror:
    SCREEN.conclude()


onsuccess:
    SCREEN.succeed()
