"""The tables of one experiment, as they lie in its folder: `results/{experiment}/tables/`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.best import best
from automata.analysis.influence import influence
from automata.analysis.rank_agreement import per_seed
from automata.analysis.tables import read_csv, read_json, read_parquet, read_texts


@dataclass(frozen=True)
class Tables:
    """What figures, claims and the page are made of; a table is read when it is asked for."""

    folder: Path

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per record (`automata.analysis.runs`)."""
        return read_parquet(self.folder / "runs.parquet")

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per evaluation of a trial (`automata.analysis.trials`)."""
        return read_parquet(self.folder / "trials.parquet")

    @cached_property
    def protocols(self) -> dict[str, Any]:
        """The settings behind each `protocol_hash` of the runs."""
        return read_json(self.folder / "protocols.json")

    @cached_property
    def ratios(self) -> pd.DataFrame:
        """One row per search, compared with its FULL (`automata.analysis.ratios`)."""
        return read_csv(self.folder / "ratios.csv")

    @cached_property
    def tradeoff(self) -> pd.DataFrame:
        """One row per combination, over its seeds (`automata.analysis.tradeoff`)."""
        return read_csv(self.folder / "tradeoff.csv")

    @cached_property
    def untuned(self) -> pd.DataFrame:
        """One row per panel that has draws without tuning (`automata.analysis.untuned`)."""
        return read_csv(self.folder / "untuned.csv")

    @cached_property
    def agreements(self) -> pd.DataFrame:
        """Kendall's tau with FULL per run and rung: on no disk, but costly."""
        return per_seed(self.runs, self.trials, self.protocols)

    @cached_property
    def best(self) -> pd.DataFrame:
        """The best configuration of each run (`automata.analysis.best`), from runs and trials."""
        return best(self.runs, self.trials)

    @cached_property
    def influence(self) -> pd.DataFrame:
        """Hyper-parameters and scores (`automata.analysis.influence`): on no disk, but costly."""
        return influence(self.runs, self.trials, self.protocols)

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Where the protocol differs from the paper's (`automata.analysis.differences`)."""
        return read_texts(self.folder / "differences.csv")
