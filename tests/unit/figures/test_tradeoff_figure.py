"""The scatter of speedup and error: what stands where, and that it can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from automata.analysis.tradeoff import SPREAD, tradeoff
from automata.errors import UserError
from automata.figures import names
from automata.figures.style import COLOURS, MARKERS, save
from automata.figures.tradeoff import RATIOS, tradeoff_figure
from automata.selection import SELECTORS
from automata.tuning import SCHEDULERS, SEARCHES

MakeRatios = Callable[..., pd.DataFrame]

SUBSETS = tuple(name for name in SELECTORS if name != "full")
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def draw(ratios: pd.DataFrame) -> Figure:
    return tradeoff_figure(ratios, "satimage", "tpe", "hyperband")


def axes_of(figure: Figure) -> Axes:
    (axes,) = figure.axes
    return axes


def markers(figure: Figure) -> dict[str, PathCollection]:
    """Return the markers of the legend's entries by display name."""
    return {
        str(drawn.get_label()): drawn
        for drawn in axes_of(figure).collections
        if isinstance(drawn, PathCollection) and not str(drawn.get_label()).startswith("_")
    }


def positions(figure: Figure, selector: str) -> list[list[float]]:
    return np.asarray(markers(figure)[names.SELECTORS[selector]].get_offsets()).tolist()


def bars(figure: Figure) -> list[LineCollection]:
    return [drawn for drawn in axes_of(figure).collections if isinstance(drawn, LineCollection)]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in axes_of(figure).texts]


@pytest.fixture
def ratios(make_ratios: MakeRatios) -> pd.DataFrame:
    """All selectors at two fractions, three seeds each."""
    return make_ratios(selectors=SUBSETS)


@pytest.mark.parametrize("selector", SUBSETS)
def test_marker_stands_at_the_mean_of_the_seeds(ratios: pd.DataFrame, selector: str) -> None:
    i = SUBSETS.index(selector) + 1

    drawn = positions(draw(ratios), selector)

    assert np.array(drawn) == pytest.approx(np.array([[20 - i, i / 5], [10 - i, i / 10]]))


@pytest.mark.parametrize("selector", SELECTORS)
def test_marker_stands_where_the_tradeoff_table_says(ratios: pd.DataFrame, selector: str) -> None:
    table = tradeoff(ratios)
    rows = table[table["selector"] == selector].sort_values("fraction")

    assert (
        positions(draw(ratios), selector)
        == rows[["speedup", "relative_test_error"]].values.tolist()
    )


def test_full_stands_at_speedup_one_and_error_zero(ratios: pd.DataFrame) -> None:
    assert positions(draw(ratios), "full") == [[1.0, 0.0]]


def test_runs_of_other_panels_are_not_drawn(make_ratios: MakeRatios) -> None:
    other = make_ratios(selectors=("craig",), scheduler="asha")
    both = pd.concat([make_ratios(selectors=("rs2",)), other])

    assert set(markers(draw(both))) == {"FULL", "RS2"}


def test_axes_name_quantity_and_unit(ratios: pd.DataFrame) -> None:
    axes = axes_of(draw(ratios))

    assert axes.get_xlabel() == "Speedup over FULL (×)"  # noqa: RUF001
    assert axes.get_ylabel() == "Relative test error (pp)"


def test_title_names_the_panel_as_the_paper_does(ratios: pd.DataFrame) -> None:
    assert axes_of(draw(ratios)).get_title() == "SATIMAGE (TPE, HB)"


def test_legend_has_the_display_names_with_full_first(ratios: pd.DataFrame) -> None:
    (legend,) = draw(ratios).legends

    assert [text.get_text() for text in legend.get_texts()] == [
        "FULL",
        "RANDOM (fixed)",
        "RANDOM (adaptive)",
        "RS2",
        "CRAIG",
        "AUTOMATA",
        "AUTOMATA (adaptive)",
        "GLISTER",
    ]


def test_markers_carry_their_subset_size(make_ratios: MakeRatios) -> None:
    figure = draw(make_ratios(selectors=("gradmatch",)))

    assert [text for text in texts(figure) if text.endswith("%")] == ["5 %", "10 %"]


@pytest.mark.parametrize(
    "column", ["speedup", "energy_ratio", "co2_measured_ratio", "co2_time_ratio"]
)
def test_every_seed_is_a_dot(make_ratios: MakeRatios, column: str) -> None:
    ratios = make_ratios(selectors=("gradmatch",))
    figure = tradeoff_figure(ratios, "satimage", "tpe", "hyperband", column)

    dots = [
        np.asarray(drawn.get_offsets())
        for drawn in axes_of(figure).collections
        if isinstance(drawn, PathCollection) and str(drawn.get_label()).startswith("_")
    ]

    expected = ratios[[column, "relative_test_error"]].to_numpy()
    assert np.array(sorted(np.vstack(dots).tolist())) == pytest.approx(
        np.array(sorted(expected.tolist()))
    )


def test_bars_reach_from_the_lower_to_the_upper_bound_of_the_table(make_ratios: MakeRatios) -> None:
    ratios = make_ratios(seeds=2, selectors=("gradmatch",))
    figure = draw(ratios[ratios["selector"] == "gradmatch"])

    horizontal, vertical = [np.array(drawn.get_segments()) for drawn in bars(figure)]

    # Two seeds lie 0.25 and 0.025 to either side of the means (19, 0.2) and (9, 0.1).
    assert horizontal == pytest.approx(
        np.array([[[18.75, 0.2], [19.25, 0.2]], [[8.75, 0.1], [9.25, 0.1]]])
    )
    assert vertical == pytest.approx(
        np.array([[[19.0, 0.175], [19.0, 0.225]], [[9.0, 0.075], [9.0, 0.125]]])
    )


def test_single_seed_has_no_bars(make_ratios: MakeRatios) -> None:
    assert bars(draw(make_ratios(seeds=1, selectors=SUBSETS))) == []


def test_panel_without_runs_says_so(ratios: pd.DataFrame) -> None:
    figure = tradeoff_figure(ratios, "dna", "tpe", "hyperband")

    assert texts(figure) == ["not run"]


def test_panel_of_an_empty_table_says_so(ratios: pd.DataFrame) -> None:
    assert texts(draw(ratios.iloc[:0])) == ["not run"]


@pytest.mark.parametrize(
    ("seeds", "exclusive", "note"),
    [
        (1, True, "1 seed; labels: subset size"),
        (3, True, "3 seeds; dots: seeds, bars: 95 % bootstrap interval; labels: subset size"),
        (
            1,
            False,
            "1 seed; labels: subset size; runs may have overlapped on the host",
        ),
    ],
)
def test_note_says_how_many_seeds_and_whether_runs_may_have_overlapped(
    make_ratios: MakeRatios, seeds: int, exclusive: bool, note: str
) -> None:
    figure = draw(make_ratios(seeds=seeds, selectors=("rs2",), exclusive=exclusive))

    assert [text.get_text() for text in figure.texts] == [note]


@pytest.mark.parametrize(
    ("table", "registry"),
    [
        (COLOURS, SELECTORS),
        (MARKERS, SELECTORS),
        (names.SELECTORS, SELECTORS),
        (names.SEARCHES, SEARCHES),
        (names.SCHEDULERS, SCHEDULERS),
    ],
    ids=["colours", "markers", "selector names", "search names", "scheduler names"],
)
def test_everything_that_can_be_run_can_be_drawn(
    table: dict[str, Any], registry: dict[str, str]
) -> None:
    assert set(table) == set(registry)


@pytest.mark.parametrize(
    "table", [COLOURS, MARKERS, names.SELECTORS], ids=["colours", "markers", "names"]
)
def test_no_two_selectors_look_alike(table: dict[str, str]) -> None:
    assert len(set(table.values())) == len(SELECTORS)


@pytest.mark.parametrize("selector", SELECTORS)
def test_selector_is_drawn_in_its_colour(ratios: pd.DataFrame, selector: str) -> None:
    drawn = markers(draw(ratios))[names.SELECTORS[selector]]

    (face,) = np.unique(np.asarray(drawn.get_facecolor()), axis=0)
    assert to_hex(face).upper() == COLOURS[selector].upper()


def test_selectors_are_drawn_with_markers_of_different_shape(ratios: pd.DataFrame) -> None:
    shapes = {drawn.get_paths()[0].vertices.tobytes() for drawn in markers(draw(ratios)).values()}

    assert len(shapes) == len(SELECTORS)


def test_pdf_is_written_with_its_fonts_in_it(ratios: pd.DataFrame, tmp_path: Path) -> None:
    save(draw(ratios), tmp_path / "figures" / "figure.pdf")

    content = (tmp_path / "figures" / "figure.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_pdf_of_the_same_runs_has_the_same_bytes(ratios: pd.DataFrame, tmp_path: Path) -> None:
    save(draw(ratios), tmp_path / "one.pdf")
    save(draw(ratios), tmp_path / "two.pdf")

    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_png_is_written(ratios: pd.DataFrame, tmp_path: Path) -> None:
    save(draw(ratios), tmp_path / "figure.png")

    assert (tmp_path / "figure.png").read_bytes().startswith(PNG_SIGNATURE)


def test_saving_leaves_nothing_but_the_figure(ratios: pd.DataFrame, tmp_path: Path) -> None:
    save(draw(ratios), tmp_path / "figure.png")

    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"other_cpu_share": 0.2}, "host was busy with other work in 3 runs"),
        ({"full_best_epochs": 27}, "FULL's best trial ended before T (1 of 1)"),
    ],
)
def test_note_names_what_weakens_the_runs(
    make_ratios: MakeRatios, changes: dict[str, object], expected: str
) -> None:
    figure = draw(make_ratios(seeds=1, selectors=("rs2",), **changes))

    (note,) = [text.get_text() for text in figure.texts]
    assert expected in note.replace("\n", " ")


def test_refused_run_is_counted_and_not_drawn(make_ratios: MakeRatios) -> None:
    ratios = make_ratios(seeds=1, selectors=("rs2", "craig"))
    ratios.loc[ratios["selector"] == "craig", "refused"] = "another host"

    figure = draw(ratios)

    assert "2 of 5 runs not comparable" in figure.texts[0].get_text()
    assert "CRAIG" not in figure.axes[0].get_legend_handles_labels()[1]


OTHERS = {
    "energy_ratio": "Energy ratio, FULL / method (×)",  # noqa: RUF001
    "co2_measured_ratio": "CO2 ratio from energy, FULL / method (×)",  # noqa: RUF001
    "co2_time_ratio": "CO2 ratio from time, FULL / method (×)",  # noqa: RUF001
}
OF_ENERGY = ["energy_ratio", "co2_measured_ratio"]
NO_ENERGY = {"energy_ratio": np.nan, "co2_measured_ratio": np.nan, "energy_method": None}


def draw_ratio(ratios: pd.DataFrame, column: str) -> Figure:
    return tradeoff_figure(ratios, "satimage", "tpe", "hyperband", column)


def note_of(figure: Figure) -> str:
    (note,) = [text.get_text() for text in figure.texts]
    return note.replace("\n", " ")


@pytest.mark.parametrize(("column", "label"), OTHERS.items())
def test_other_ratios_stand_on_the_x_axis_under_their_name(
    make_ratios: MakeRatios, column: str, label: str
) -> None:
    ratios = make_ratios(seeds=2, selectors=("gradmatch",))
    table = tradeoff(ratios).query("selector == 'gradmatch'")
    figure = draw_ratio(ratios, column)
    horizontal = np.array(bars(figure)[-2].get_segments())[:, :, 0]

    assert axes_of(figure).get_xlabel() == label
    assert positions(figure, "gradmatch") == table[[column, "relative_test_error"]].values.tolist()
    assert horizontal == pytest.approx(table[[f"{column}_low", f"{column}_high"]].to_numpy())


def test_every_drawn_ratio_has_a_spread_in_the_tradeoff_table() -> None:
    assert set(RATIOS) == {"speedup", *OTHERS}
    assert set(RATIOS) <= set(SPREAD)


def test_another_ratio_is_one_line(ratios: pd.DataFrame) -> None:
    with pytest.raises(UserError, match=r"^ratio 'cost' is not one of speedup, energy_ratio, co2"):
        draw_ratio(ratios, "cost")


@pytest.mark.parametrize("column", OF_ENERGY)
@pytest.mark.parametrize(
    ("method", "source", "words"),
    [
        ("measured", "pyJoules NVML + pyJoules RAPL", "energy: RAPL+NVML counters;"),
        ("estimated", "codecarbon CPU load", "energy: estimated from CPU time;"),
    ],
)
def test_note_says_how_energy_was_obtained(
    make_ratios: MakeRatios, column: str, method: str, source: str, words: str
) -> None:
    ratios = make_ratios(selectors=("rs2",), energy_method=method, energy_source=source)

    assert words in note_of(draw_ratio(ratios, column))


def test_note_names_all_ways_in_which_energy_was_obtained(make_ratios: MakeRatios) -> None:
    ratios = make_ratios(selectors=("rs2",))
    ratios.loc[ratios["seed"] == 1, "energy_method"] = "estimated"
    ratios.loc[ratios["seed"] == 1, "energy_source"] = "codecarbon CPU load"

    note = note_of(draw_ratio(ratios, "energy_ratio"))

    assert "energy: RAPL counters, estimated from CPU time;" in note


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("co2_measured_ratio", "energy x PUE x intensity: equals the energy ratio;"),
        ("co2_time_ratio", "time x TDP x intensity: equals the speedup;"),
    ],
)
def test_note_says_that_co2_is_its_source_again(
    ratios: pd.DataFrame, column: str, words: str
) -> None:
    assert words in note_of(draw_ratio(ratios, column))


@pytest.mark.parametrize("column", OF_ENERGY)
def test_run_without_energy_is_left_out_and_counted(make_ratios: MakeRatios, column: str) -> None:
    ratios = make_ratios(seeds=2, selectors=("rs2", "craig"))
    ratios.loc[(ratios["selector"] == "craig") | (ratios["seed"] == 1), list(NO_ENERGY)] = list(
        NO_ENERGY.values()
    )

    figure = draw_ratio(ratios, column)

    assert set(markers(figure)) == {"FULL", "RS2"}
    assert "7 of 10 runs without an energy ratio; " in note_of(figure)
    assert "1 seed;" in note_of(figure)


@pytest.mark.parametrize("column", OF_ENERGY)
def test_panel_without_any_energy_says_so(make_ratios: MakeRatios, column: str) -> None:
    figure = draw_ratio(make_ratios(seeds=1, selectors=("rs2",), **NO_ENERGY), column)

    assert texts(figure) == ["no energy ratio"]
    assert note_of(figure) == "3 of 3 runs without an energy ratio"


@pytest.mark.parametrize("column", ["speedup", "co2_time_ratio"])
def test_missing_energy_takes_nothing_from_the_figures_of_time(
    make_ratios: MakeRatios, column: str
) -> None:
    figure = draw_ratio(make_ratios(seeds=1, selectors=("rs2",), **NO_ENERGY), column)

    assert set(markers(figure)) == {"FULL", "RS2"}
    assert "energy" not in note_of(figure)
