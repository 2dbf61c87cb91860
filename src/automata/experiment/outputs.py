"""The files that are made from an experiment's records, and the expected cost of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import product
from pathlib import Path

from automata.analysis import wording
from automata.analysis.views import CLAIMS, TABLES, figures
from automata.catalog import DATASETS
from automata.code import reading_code, stamped
from automata.config.files import prediction_command
from automata.config.job import Job
from automata.experiment.grid import Grid
from automata.experiment.sizes import RUN_SECONDS
from automata.loading import load
from automata.records.measurement import JOULES_PER_KWH
from automata.registry import METHODS, SCHEDULERS, SEARCHES
from automata.search.schedulers import Halving, final_epochs, search_epochs, successive_halving

REFERENCE = Path("results/reference")
"""Folders of published experiments, which have a configuration of the same name."""

ROW_SECONDS = {"mlp": 12e-6, "lstm": 400e-6, "resnet18": 460e-6}
"""Seconds to train one row once: medians of published runs, on a core of an AMD EPYC (ResNet18: on
an H100)."""

EPOCH_SECONDS = 0.002
"""Seconds of an epoch that do not depend on its rows."""

CORE_WATTS = 4.1
"""Power of a busy core, as estimated in published runs."""


class Outputs:
    """The records of a grid, and the files that are made from them."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.folder = f"results/{grid.shared.experiment}"
        self.best = f"{self.folder}/best.yaml"
        self.page = f"{self.folder}/index.html"
        self.claims = not DATASETS.keys().isdisjoint(grid.datasets)
        """Whether the paper's claims are checked: a data set of the experiment is the paper's."""
        made = [name for name in TABLES if self.claims or name not in CLAIMS]
        self.tables = [f"{self.folder}/tables/{name}" for name in made]
        self.collected = [path for path in self.tables if not TABLES[Path(path).name].make]
        """Tables that `automata collect` makes from the records."""
        self.tabulated = [path for path in self.tables if path not in self.collected] + [self.best]
        """Files that `automata tabulate` makes from those tables."""

    @property
    def records(self) -> list[str]:
        """The records of all runs, or the folder of published records."""
        return [f"{self.folder}/records"] if self._grid.archives else self._grid.records

    @property
    def existing(self) -> list[str]:
        """The records that exist; if none does, the first path, for the error message."""
        existing = [path for path in self.records if Path(path).exists()]
        return existing or self.records[:1]

    @property
    def code(self) -> dict[str, str]:
        """The parameter of all rules that read records, which changes with their code.

        If a record is gone, Snakemake would repeat its run to make the tables again. So tables that
        exist then keep the code that made them.
        """
        tables = Path(self.folder, "tables")
        made = all(Path(path).exists() for path in self.collected)
        if made and not all(Path(path).exists() for path in self.records):
            known = stamped(tables)
            return {"code": known} if known else {}
        return {"code": reading_code()}

    def news(self) -> list[str]:
        """Return lines to print before the jobs start: the archives, or what the runs are."""
        if self._grid.archives:
            return [f"records from {', '.join(self._grid.archives)}"]
        runs = Counter(place.dataset for place in self._grid.runs)
        numbers = [f"{dataset}: {count} runs" for dataset, count in runs.items()]
        return [*numbers, *never_stopped(self._grid)]

    def configfiles(self, given: Iterable[Path]) -> list[str]:
        """Return the configuration files that make the runs again."""
        folders = [Path(path).parent for path in self._grid.archives]
        published = [f"config/reference/{it.name}.yaml" for it in folders if it.parent == REFERENCE]
        return published or [*map(str, given)]

    def end(self) -> str:
        """Return the line that names the results of a finished experiment."""
        line = f"The best hyper-parameters: {self.best}; how good they are: {self.page}"
        if self._grid.kept and len(self._grid.datasets) == 1:
            line += f"; predictions: {prediction_command(self.folder)}"
        return line

    @cached_property
    def drawn(self) -> list[str]:
        """The names of the figures that have something to show."""
        if self._grid.archives:  # archives are not read here, and may have any run
            panels = product(self._grid.datasets, SEARCHES, SCHEDULERS)
            return figures(dict.fromkeys(panels, METHODS))
        plan: dict[tuple[str, str, str], set[str]] = {}
        for place in self._grid.runs:
            panel = place.dataset, place.search, place.scheduler
            plan.setdefault(panel, set()).add(place.selector)
        return figures(plan)

    @property
    def figures(self) -> list[str]:
        """The figures as PNG files."""
        return [f"{self.folder}/figures/{name}.png" for name in self.drawn]

    @property
    def published(self) -> list[str]:
        """The files to publish beside the records; all others can be made from the records."""
        tables = [path for path in self.tables if TABLES[Path(path).name].published]
        return [*tables, *self.figures, self.best, self.page]


def never_stopped(grid: Grid) -> list[str]:
    """Return a line for each data set and scheduler that can stop no trial of a search."""
    lines = []
    for place in grid.runs:
        job = grid.job(*place[:3], place.selector)
        trials, epochs = job.settings.protocol.configurations, job.settings.protocol.epochs
        if job.run.searches and place.scheduler in SCHEDULERS.keys() - {"none"}:
            made = load(SCHEDULERS, place.scheduler)(trials, epochs, job.settings.scheduler)
            brackets = made.brackets if isinstance(made, Halving) else []
            halves = any(it.trials > min(it.survivors, default=it.trials) for it in brackets)
            if not halves and (brackets or 1 in (trials, len(made.rungs(0)))):
                text = f"stops no trial of a search of {trials} configurations and {epochs} epochs"
                lines.append(f"{place.dataset}: {place.scheduler} {text}")
    return [*dict.fromkeys(lines)]


def expected(grid: Grid) -> list[str]:
    """Return two lines on time and energy; none if no run can be estimated."""
    seconds, joules, runs = 0.0, 0.0, 0
    for place in grid.runs:
        job = grid.job(*place[:3], place.selector)
        model = job.settings.protocol.model
        if place.dataset not in DATASETS or model not in ROW_SECONDS:
            continue
        run_seconds = _seconds(job, float(place.fraction), ROW_SECONDS[str(model)])
        on_gpu = DATASETS[place.dataset].kind == "image"
        seconds, runs = seconds + run_seconds, runs + 1
        joules += run_seconds * (CORE_WATTS + on_gpu * grid.shared.carbon.tdp_watts)
    if not runs:
        return []
    return [
        f"all {runs} runs take about {wording.seconds(seconds)} one after the other, tables and "
        "texts on a core of an AMD EPYC, images on an H100",
        f"they take about {wording.energy(joules / JOULES_PER_KWH)}: {CORE_WATTS} W for a core, "
        f"{grid.shared.carbon.tdp_watts:g} W for a GPU (carbon.tdp_watts)",
    ]


def _seconds(job: Job, fraction: float, row_seconds: float) -> float:
    """Return the seconds of a run without warm start that trains a row in `row_seconds`."""
    run, protocol = job.run, job.settings.protocol
    rows = DATASETS[run.dataset].train
    search = search_epochs(run.scheduler, job.settings.scheduler, protocol)
    if search is None:  # ASHA trains about as many epochs as successive halving
        eta = job.settings.scheduler.asha.reduction_factor
        search = successive_halving(protocol.trials, protocol.epochs, eta).epochs
    search *= run.searches
    final = final_epochs(protocol) * run.trains_finally
    passes = fraction * search + final
    return RUN_SECONDS + row_seconds * rows * passes + EPOCH_SECONDS * (search + final)
