"""Tables on disk and for people: nothing is lost on the way, and all are there."""

from types import SimpleNamespace

import pandas as pd
import pytest

from automata.analysis.overview import contrasts, gains, ran
from automata.analysis.study import Study
from automata.analysis.tables import read_csv, write
from automata.analysis.views import TABLES
from automata.cli import main
from automata.errors import UserError
from support.synthetic import CONTROLS, PAPER, synthetic_runs
from support.tabulated import CARBON, write_tables

from .conftest import run


@pytest.mark.parametrize(
    "selectors",
    [("full",), ("random", "gradmatch"), pytest.param(PAPER + CONTROLS, marks=pytest.mark.slow)],
)
def test_a_part_of_the_papers_grid_has_all_tables(selectors, tmp_path):
    axes = {"datasets": ("dna",), "searches": ("tpe",), "fractions": (0.1,), "repeats": 1}
    folder = tmp_path / "tables"
    write_tables(synthetic_runs(selectors=selectors, **axes), folder)
    main(["tabulate", str(folder), "--claims", "--carbon", CARBON.model_dump_json()])
    made = {name for name, table in TABLES.items() if table.make}
    assert {path.name for path in folder.iterdir()} >= made
    assert (tmp_path / "best.yaml").exists()
    table = pd.DataFrame({"dataset": ["2024", "NA"], "speedup": [0.1 + 0.2, None]})
    write(table, folder / "t.csv")
    pd.testing.assert_frame_equal(read_csv(folder / "t.csv"), table, check_exact=True)


@pytest.mark.parametrize("name", ["runs.parquet", "ratios.csv", "protocols.json"])
def test_a_damaged_table_is_named_with_the_remedy(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(UserError, match=f"^{tmp_path / name}: damaged: .*; delete it, and snake"):
        getattr(Study(tmp_path), name.partition(".")[0])


def test_a_seed_counts_with_the_mean_of_its_searches():
    numbers = [(0, 2.0, 4.0, 1.0), (0, 8.0, 9.0, 3.0), (1, 9.0, 13.5, -1.0)]
    rows = [
        run(seed=seed, speedup=speedup, ceiling=ceiling, relative_test_error=error)
        for seed, speedup, ceiling, error in numbers
    ]
    assert gains(pd.DataFrame(rows)) == ["6.0", "9.0", "+0.5"]  # ratios: geometric means


@pytest.mark.parametrize("own", ["DNA", "all"])
def test_a_data_set_keeps_its_column_whatever_its_name(own):
    errors = {("dna", "gradmatch"): 1.0, ("dna", "rs2"): 2.0, (own, "gradmatch"): 3.0}
    rows = [
        run(selector, dataset=dataset, relative_test_error=error)
        for (dataset, selector), error in {**errors, (own, "rs2"): 7.0}.items()
    ]
    table = contrasts(SimpleNamespace(ratios=pd.DataFrame(rows)))
    assert list(table) == ["difference", "DNA", own, "all", "speedups"]
    assert table.iloc[0].tolist()[:3] == ["AUTOMATA - RS2", "-1", "-4"]


def test_energy_of_some_runs_is_no_sum():
    runs = synthetic_runs(datasets=("dna",), selectors=("full",), repeats=1)
    table = ran(SimpleNamespace(runs=runs.assign(energy_joules=[None, 1.0, 1.0, 1.0])))
    assert table["energy (Wh)"].isna().tolist() == [True]
