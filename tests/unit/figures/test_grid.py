"""Panels in rows and columns: the same place for every panel, and nothing in another's way."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from matplotlib.figure import Figure

from automata import names
from automata.analysis.study import Panel, Study
from automata.errors import UserError
from automata.figures import paper
from automata.figures.dataset import dataset_figure
from automata.figures.style import PAGE_INCHES
from automata.selection import SELECTORS
from automata.views import PAPER, draw, draw_dataset
from benchmarks.synthetic import synthetic_runs
from drawn import boxes, inches, legend_of, means, note_of, outside, overlaps, panel, panels, texts

MakeTables = Callable[..., Study]
DrawOnce = Callable[[str, Study], Figure]

GRIDS = ["main", "text", "image", "tabular", "energy-co2"]
COLUMNS = ["(Random, HB)", "(TPE, HB)", "(Random, ASHA)", "(TPE, ASHA)"]
ROWS = {
    "main": ["SST5", "TREC6", "CIFAR10", "CIFAR100", "CONNECT-4"],
    "text": ["SST2", "glue-SST2", "SST5", "TREC6"],
    "image": ["CIFAR10", "CIFAR100", "SVHN"],
    "tabular": ["DNA", "SATIMAGE", "LETTER", "CONNECT-4"],
    "energy-co2": ["CIFAR100", "SVHN"],
}
"""The paper's figures, by their captions."""


@pytest.fixture(scope="module")
def few_runs() -> pd.DataFrame:
    """SST5, in the four columns of the paper, two seeds, one fraction."""
    return synthetic_runs(datasets=("sst5",), fractions=(0.1,), repeats=2)


@pytest.fixture(scope="module")
def empty(make_tables: MakeTables, few_runs: pd.DataFrame) -> Study:
    """An experiment of which nothing has been run, except for one panel of DNA's."""
    runs = few_runs[(few_runs["dataset"] == "sst5") & (few_runs["search"] == "tpe")]
    runs = runs[runs["scheduler"] == "asha"].assign(dataset="dna")
    return make_tables(runs)


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts if text.get_gid() != "note"]


@pytest.mark.parametrize("name", GRIDS)
def test_panels_are_those_of_the_paper_in_its_order(
    some: Study, draw_once: DrawOnce, name: str
) -> None:
    titles = [f"{row} {column}" for row in ROWS[name] for column in COLUMNS]

    assert list(panels(draw_once(name, some))) == [
        f"({letter}) {title}" for letter, title in zip("abcdefghijklmnopqrst", titles, strict=False)
    ]


@pytest.mark.parametrize("name", GRIDS)
def test_partial_grid_has_the_geometry_of_the_whole_one(
    whole: Study, draw_once: DrawOnce, empty: Study, name: str
) -> None:
    part, all_of_it = inches(draw(name, empty)), inches(draw_once(name, whole))

    assert len(part) == 4 * len(ROWS[name])
    assert part == [pytest.approx(place) for place in all_of_it]


@pytest.mark.parametrize("name", PAPER)
def test_figure_of_all_there_can_be_is_readable(
    whole: Study, draw_once: DrawOnce, name: str
) -> None:
    figure = draw_once(name, whole)
    extents = boxes(figure)

    assert overlaps(extents) == []
    assert outside(figure, extents) == []
    assert figure.get_size_inches()[0] == PAGE_INCHES


@pytest.mark.parametrize("name", [*GRIDS, "performance-summary"])
def test_label_at_the_end_of_the_last_column_is_whole(some: Study, name: str) -> None:
    figure = draw(name, some)
    for axes in figure.axes:
        axes.set_xlim(0.4, 10.0)
        axes.set_xticks([2.5, 10.0], labels=["2.5", "10.0"])

    assert outside(figure, boxes(figure)) == []


@pytest.mark.parametrize("name", PAPER)
def test_figure_without_runs_is_readable(empty: Study, name: str) -> None:
    figure = draw(name, empty)
    extents = boxes(figure)

    assert overlaps(extents) == []
    assert outside(figure, extents) == []


@pytest.mark.parametrize("name", ["tradeoff", "energy", "co2-measured", "co2-time"])
@pytest.mark.parametrize("dataset", ["glue-sst2", "connect4"])
def test_figure_of_a_data_set_is_readable(whole: Study, name: str, dataset: str) -> None:
    figure = draw_dataset(name, whole, dataset)
    extents = boxes(figure)

    assert overlaps(extents) == []
    assert outside(figure, extents) == []


def test_long_note_stays_on_the_page(make_tables: MakeTables, few_runs: pd.DataFrame) -> None:
    rows = [["sst5", "tpe", "asha", f"SETTING {i}", "HERE" * 5, "THERE"] for i in range(10)]
    figure = dataset_figure(make_tables(few_runs, rows), "sst5", "speedup")
    extents = boxes(figure)

    assert "SETTING 9" in note_of(figure)
    assert overlaps(extents) == []
    assert outside(figure, extents) == []


def test_readability_is_judged_by_what_is_drawn(some: Study) -> None:
    """The judges themselves: a long title overlaps, a text at the edge leaves the page."""
    figure = draw("main", some)
    figure.axes[1].set_title("a title " * 8)
    figure.text(0.99, 0.5, "beyond the edge")
    extents = boxes(figure)

    assert overlaps(extents) != []
    assert outside(figure, extents) == ["text beyond the edge"]


def test_grid_fits_on_a_page_of_the_paper(whole: Study, draw_once: DrawOnce) -> None:
    assert draw_once("main", whole).get_size_inches()[1] < 9


def test_panels_without_runs_stay_and_are_counted(some: Study, draw_once: DrawOnce) -> None:
    figure = draw_once("main", some)

    assert [texts(axes) for axes in figure.axes[4:8]] == [["not run"]] * 4
    assert note_of(figure).startswith("12 of 20 panels not run; ")
    assert means(panel(figure, "SST5 (TPE, HB)"), "gradmatch")


def test_legend_names_what_occurs_in_the_order_of_the_names(
    some: Study, draw_once: DrawOnce
) -> None:
    assert legend_of(draw_once("main", some)) == [
        "FULL",
        "FULL (repeat)",
        "RANDOM (fixed)",
        "RS2",
        "CRAIG",
        "AUTOMATA",
        "untuned, median",
        "untuned, best to worst",
        "Pareto front",
    ]


def test_legend_names_no_untuned_where_it_was_not_run(one_seed: Study) -> None:
    named = ["FULL", "RANDOM (fixed)", "CRAIG", "AUTOMATA", "Pareto front"]
    assert legend_of(draw("main", one_seed)) == named


def test_legend_has_every_selector_under_its_display_name(
    whole: Study,
    draw_once: DrawOnce,
) -> None:
    shown = {names.selector(name) for name in SELECTORS if name != "untuned"}

    assert shown <= set(legend_of(draw_once("main", whole)))


def test_legend_names_the_front_where_the_table_knows_it(
    make_tables: MakeTables, some_runs: pd.DataFrame
) -> None:
    tables = make_tables(some_runs, on_front=True)

    assert legend_of(draw("main", tables))[-1] == "Pareto front"
    assert "Pareto front" not in legend_of(draw("energy-co2", tables))


def test_figure_without_any_run_has_no_legend(empty: Study) -> None:
    assert draw("image", empty).legends == []


def test_axes_are_named_once_with_their_units(some: Study, draw_once: DrawOnce) -> None:
    assert words(draw_once("main", some)) == [
        "Speedup over FULL (\N{MULTIPLICATION SIGN})",
        "Relative test error (pp)",
    ]


def test_rows_of_different_ratios_each_have_their_label(some: Study, draw_once: DrawOnce) -> None:
    assert words(draw_once("energy-co2", some)) == [
        "Energy ratio, FULL / method (\N{MULTIPLICATION SIGN})",
        "CO2 ratio from time, FULL / method (\N{MULTIPLICATION SIGN})",
        "Relative test error (pp)",
    ]


def test_energy_and_co2_are_drawn_from_their_own_columns(
    make_tables: MakeTables, some_runs: pd.DataFrame
) -> None:
    runs = some_runs[some_runs["dataset"] == "cifar100"]
    runs = pd.concat([runs, runs.assign(dataset="svhn")])
    runs.loc[runs["selector"] == "full", "energy_joules"] *= 3  # else energy is as time
    tables = make_tables(runs)
    figure = draw("energy-co2", tables)

    for dataset, column in [("cifar100", "energy_ratio"), ("svhn", "co2_time_ratio")]:
        rows = Panel(dataset, "tpe", "asha").rows(tables.tradeoff)
        table = rows[rows["selector"] == "craig"]
        drawn = means(panel(figure, names.combination(dataset, "tpe", "asha")), "craig")
        assert [x for x, _ in drawn] == table[column].tolist()


@pytest.mark.parametrize(
    ("searches", "schedulers", "titles"),
    [
        (["tpe"], ["asha"], ["(TPE, ASHA)"]),
        (["tpe"], ["hyperband", "asha"], ["(TPE, HB)", "(TPE, ASHA)"]),
        (["random", "tpe"], ["hyperband", "asha"], COLUMNS),
    ],
)
def test_figure_of_a_data_set_has_the_columns_of_the_experiment(
    make_tables: MakeTables,
    few_runs: pd.DataFrame,
    searches: list[str],
    schedulers: list[str],
    titles: list[str],
) -> None:
    runs = few_runs[few_runs["search"].isin(searches) & few_runs["scheduler"].isin(schedulers)]
    figure = dataset_figure(make_tables(runs), "sst5", "speedup")
    extents = boxes(figure)

    assert [title.split(") ", 1)[1] for title in panels(figure)] == [f"SST5 {t}" for t in titles]
    assert overlaps(extents) == []
    assert outside(figure, extents) == []


def test_more_than_four_columns_take_another_row(
    make_tables: MakeTables, few_runs: pd.DataFrame
) -> None:
    more = few_runs[few_runs["scheduler"] == "asha"].assign(scheduler="none")
    figure = dataset_figure(make_tables(pd.concat([few_runs, more])), "sst5", "speedup")

    assert len({round(top, 3) for _, top, _, _ in inches(figure)}) == 2
    assert overlaps(boxes(figure)) == []


def test_fewer_columns_are_wider(make_tables: MakeTables, few_runs: pd.DataFrame) -> None:
    few = make_tables(few_runs[few_runs["search"] == "tpe"])
    two = inches(dataset_figure(few, "sst5", "speedup"))
    four = inches(dataset_figure(make_tables(few_runs), "sst5", "speedup"))

    assert two[0][2] > 1.8 * four[0][2]


def test_long_name_of_a_users_own_data_set_is_cut_in_titles(
    make_tables: MakeTables, few_runs: pd.DataFrame
) -> None:
    name = "A-NAME-THAT-SOMEBODY-FOUND-TELLING"
    runs = few_runs[few_runs["dataset"] == "sst5"].assign(dataset=name)
    figure = dataset_figure(make_tables(runs), name, "speedup")

    assert figure.axes[0].get_title() == "(a) A-NAME-... (Random, HB)"
    assert overlaps(boxes(figure)) == []


def test_other_data_set_is_one_line(some: Study) -> None:
    with pytest.raises(UserError, match=r"^dataset 'mnist' is not one of cifar100, sst5$"):
        dataset_figure(some, "mnist", "speedup")


def test_other_ratio_is_one_line(some: Study) -> None:
    with pytest.raises(UserError, match=r"^ratio 'cost' is not one of speedup, energy_ratio, co2_"):
        dataset_figure(some, "sst5", "cost")


def test_columns_of_the_paper_are_searches_within_schedulers() -> None:
    shown = [f"({names.search(a)}, {names.SCHEDULERS[b].short})" for a, b in paper.COLUMNS]

    assert shown == COLUMNS
