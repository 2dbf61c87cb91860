"""The figures of the studies: what stands where, what they say is missing, what can be read."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from automata import names
from automata.analysis.differences import COLUMNS as DIFFERENCES
from automata.analysis.ratios import ratios_to_full
from automata.analysis.search_studies import anytime, by_rung, per_seed
from automata.analysis.selector_comparisons import ALL, resampling
from automata.analysis.study import PANEL, Study
from automata.analysis.tradeoff import PARTS, fronts, summary, time_split, tradeoff, untuned
from automata.config import Carbon
from automata.figures.style import save, style
from automata.views import STUDIES, draw_dataset
from automata.views import draw as draw_by_name
from benchmarks.synthetic import CONTROLS, PAPER, synthetic_runs, synthetic_trials

CARBON = Carbon(
    grams_per_kwh=400, region="here", year=2026, source="a", tdp_watts=100, tdp_source="b"
)


def experiment(
    runs: pd.DataFrame, trials: pd.DataFrame | None = None, differing: list[list[Any]] | None = None
) -> Study:
    """Return the tables of `runs`, as if they had been read."""
    tables = Study(Path("nowhere"))
    ratios = ratios_to_full(runs, CARBON)
    tables.__dict__.update(
        runs=runs,
        trials=synthetic_trials(runs) if trials is None else trials,
        protocols={},
        ratios=ratios,
        tradeoff=tradeoff(ratios),
        untuned=untuned(runs),
        differences=pd.DataFrame(differing or [], columns=DIFFERENCES),
    )
    return tables


def small(**changes: Any) -> pd.DataFrame:
    """Return runs of three data sets, all selectors and two subset sizes."""
    return synthetic_runs(
        **{
            "datasets": ("dna", "satimage", "trec6"),
            "selectors": PAPER + CONTROLS,
            "searches": ("tpe",),
            "fractions": (0.05, 0.1),
            "repeats": 3,
            **changes,
        }
    )


@pytest.fixture(scope="module")
def tables() -> Study:
    return experiment(small())


FIGURES = [*STUDIES, "anytime", "time-split"]


def draw(name: str, tables: Study, dataset: str = "dna") -> Figure:
    return draw_by_name(name, tables) if name in STUDIES else draw_dataset(name, tables, dataset)


def scatters(axes: Axes, selector: str | None = None) -> np.ndarray[Any, Any]:
    """Return the places of all scatter points, of one selector if it is named."""
    parts = [
        np.asarray(drawn.get_offsets())
        for drawn in axes.collections
        if isinstance(drawn, PathCollection)
        and (selector is None or drawn.get_label() == names.selector(selector))
    ]
    return np.vstack(parts)


def words(figure: Figure) -> str:
    """Return all that is written in the figure, outside of its axes' ticks."""
    inside = [text.get_text() for axes in figure.axes for text in axes.texts]
    return " ".join(" ".join([*inside, *(t.get_text() for t in figure.texts)]).split())


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for box in figure.legends for text in box.get_texts()]


def drawn_by(figure: Figure) -> Any:
    """Draw the figure as it is saved and return what knows the sizes of its parts."""
    canvas = FigureCanvasAgg(figure)
    with style():
        canvas.draw()
    return canvas.get_renderer()


def overlapping(figure: Figure) -> list[str]:
    """Return the pairs of axes, legends and notes that lie on one another."""
    renderer = drawn_by(figure)
    boxes = {f"axes {i}": axes.get_tightbbox(renderer) for i, axes in enumerate(figure.axes)}
    boxes |= {f"legend {i}": b.get_window_extent(renderer) for i, b in enumerate(figure.legends)}
    boxes |= {t.get_text()[:20]: t.get_window_extent(renderer) for t in figure.texts}
    return [
        f"{one} | {other}"
        for (one, a), (other, b) in combinations(boxes.items(), 2)
        # A pixel of rounding is no overlap.
        if a.padded(-1).overlaps(b.padded(-1))
    ]


def outside(figure: Figure) -> list[str]:
    """Return the texts in axes that stick out of them and over their neighbours' frames."""
    renderer = drawn_by(figure)
    return [
        text.get_text()
        for axes in figure.axes
        for text in axes.texts
        for other in figure.axes
        if other is not axes
        and text.get_window_extent(renderer).overlaps(other.get_window_extent(renderer))
    ]


# --- every figure ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_overlaps(name: str, tables: Study) -> None:
    figure = draw(name, tables)

    assert overlapping(figure) == []
    assert outside(figure) == []


@pytest.fixture(scope="module")
def whole_grid() -> Study:
    return experiment(
        small(searches=("random", "tpe"), fractions=(0.01, 0.05, 0.1, 0.3), repeats=1)
    )


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_overlaps_in_the_whole_grid(name: str, whole_grid: Study) -> None:
    figure = draw(name, whole_grid)

    assert overlapping(figure) == []
    assert outside(figure) == []


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_cut_off_where_it_is_written(name: str, tables: Study, tmp_path: Path) -> None:
    save(draw(name, tables), tmp_path / "figure.png")

    pixels = plt.imread(tmp_path / "figure.png")[..., :3]
    drawn = draw(name, tables)
    with style():
        drawn.get_layout_engine().execute(drawn)
        box = drawn.get_tightbbox()  # the note below the layout included
    height, width, _ = pixels.shape
    assert height >= 200 * box.height
    assert width >= 200 * box.width
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert (edge == 1).all()  # white: the margin


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_written_the_same_twice(name: str, tables: Study, tmp_path: Path) -> None:
    for copy in "ab":
        save(draw(name, tables), tmp_path / f"{copy}.png")

    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


PARTIAL = {
    "the paper's selectors": lambda: small(selectors=PAPER),
    "one seed": lambda: small(repeats=1),
    "one data set": lambda: small(datasets=("dna",)),
    "one scheduler": lambda: small(schedulers=("asha",)),
    "no FULL": lambda: small(selectors=("random", "gradmatch")),
    "FULL alone": lambda: small(selectors=("full",)),
    "untuned alone": lambda: small(selectors=("untuned",)),
    "ragged": lambda: small().sample(frac=0.4, random_state=0).sort_index(),
    "no energy": lambda: small().assign(
        energy_joules=np.nan, energy_method=None, energy_source=None
    ),
    "nothing": lambda: small().iloc[:0],
}


@cache
def partial(which: str) -> Study:
    runs = PARTIAL[which]()
    trials = synthetic_trials(small()).merge(runs[["record"]], on="record")
    if which == "no energy":
        trials["elapsed_joules"] = np.nan
    return experiment(runs, trials)


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("which", PARTIAL)
def test_partial_experiments_have_figures_too(name: str, which: str) -> None:
    assert overlapping(draw(name, partial(which))) == []


@pytest.mark.parametrize("name", FIGURES)
def test_an_experiment_without_runs_says_so(name: str) -> None:
    assert re.search("not run|no two of these", words(draw(name, partial("nothing"))))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "epochs 40 (200) on DNA, seeds 3 (5)") for name in STUDIES),
        ("anytime", "epochs 40 (200), seeds 3 (5)"),
        ("time-split", "epochs 40 (200), seeds 3 (5)"),
    ],
)
def test_every_figure_says_how_its_runs_differ_from_the_papers(name: str, said: str) -> None:
    runs = small()
    panels = runs[PANEL].drop_duplicates().to_numpy().tolist()
    rows = [[*panel, "epochs", "40", "200"] for panel in panels if panel[0] == "dna"]
    rows += [[*panel, "seeds", "3", "5"] for panel in panels]

    shown = words(draw(name, experiment(runs, differing=rows)))

    assert shown.endswith(f"; not the paper's protocol: {said}")


# --- pareto ---------------------------------------------------------------------------------


def test_pareto_strips_are_the_shares_of_the_table(tables: Study) -> None:
    table = fronts(tables.tradeoff)
    (_, right) = draw("pareto", tables).axes

    for selector, group in table.groupby("selector"):
        assert scatters(right, str(selector))[:, 0].tolist() == group["share"].tolist()


def test_pareto_dots_are_the_counts_of_the_summary(tables: Study) -> None:
    totals = summary(fronts(tables.tradeoff)).set_index("selector")
    totals = totals.loc[[name for name in names.SELECTORS if name in totals.index]]
    left, _ = draw("pareto", tables).axes

    on_front, largest = [
        np.asarray(drawn.get_offsets())[:, 0].tolist()
        for drawn in left.collections
        if isinstance(drawn, PathCollection)
    ]

    assert on_front == (totals["panels_on_front"] / totals["panels"]).tolist()
    assert largest == (totals["panels_largest"] / totals["panels"]).tolist()
    counts = [text.get_text() for text in left.texts]
    assert counts[0::2] == [f"{r.panels_on_front}/{r.panels}" for r in totals.itertuples()]
    assert counts[1::2] == [f"{r.panels_largest}/{r.panels}" for r in totals.itertuples()]


def test_pareto_says_how_many_panels_there_are(tables: Study) -> None:
    assert "6 panels (data set, search, scheduler)" in words(draw("pareto", tables))


def test_pareto_warns_of_unequal_subset_sizes() -> None:
    runs = small()
    runs = runs[(runs["selector"] != "craig") | (runs["fraction"] == 0.1)]

    assert "different subset sizes" in words(draw("pareto", experiment(runs)))


# --- rank agreement -------------------------------------------------------------------------


def test_taus_stand_where_the_table_says(tables: Study) -> None:
    table = by_rung(per_seed(tables.runs, tables.trials, tables.protocols))
    figure = draw("rank-agreement", tables)
    panels = [(s, f) for s in ("hyperband", "asha") for f in (0.05, 0.1)]

    for axes, (scheduler, fraction) in zip(figure.axes, panels, strict=True):
        here = table[(table["scheduler"] == scheduler) & (table["fraction"] == fraction)]
        assert len(here)
        for selector, rows in here.groupby("selector"):
            drawn = scatters(axes, str(selector))
            expected = rows.sort_values("percent")
            assert drawn[:, 1].tolist() == expected["tau"].tolist()
            # Moved sideways, together, by at most an eighth.
            moved = drawn[:, 0] / expected["percent"].to_numpy()
            assert np.ptp(moved) == pytest.approx(0, abs=1e-12)
            assert 1 / 1.13 < moved[0] < 1.13


def test_noise_ceiling_is_drawn_in_every_panel_of_its_scheduler(tables: Study) -> None:
    table = by_rung(per_seed(tables.runs, tables.trials, tables.protocols))
    noise = table[(table["selector"] == "full-again") & (table["scheduler"] == "asha")]
    expected = noise.sort_values("percent")["tau"].tolist()

    for axes in draw("rank-agreement", tables).axes[2:]:
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert [line.get_ydata().tolist() for line in dashed] == [expected]  # type: ignore[union-attr]


def test_missing_noise_ceiling_is_said() -> None:
    figure = draw("rank-agreement", partial("the paper's selectors"))

    assert "no noise ceiling: FULL (repeat) was not run" in words(figure)
    assert "FULL (repeat): noise ceiling" not in legend(figure)


def test_survivors_are_explained(tables: Study) -> None:
    assert "only survivors of both searches" in words(draw("rank-agreement", tables))


# --- resampling -----------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "column"), [(0, "error_difference"), (1, "speedup_ratio")])
def test_forest_points_are_the_pooled_rows_in_order(tables: Study, side: int, column: str) -> None:
    table = resampling(tables.ratios)
    pooled = table[table["dataset"] == ALL]
    axes = draw("resampling", tables).axes[side]

    assert scatters(axes)[:, 0].tolist() == pooled[column].tolist()
    bars = [line.get_xdata() for line in axes.lines if len(set(line.get_ydata())) == 1]
    ends = [tuple(bar) for bar in bars if tuple(bar) != (0, 1)]
    assert ends == list(zip(pooled[f"{column}_low"], pooled[f"{column}_high"], strict=True))


def test_forest_counts_its_pairs(tables: Study) -> None:
    _, right = draw("resampling", tables).axes

    # Three data sets, two schedulers, three seeds; two subset sizes.
    shown = [text.get_text() for text in right.texts if text.get_text() != "pairs"]
    assert shown == ["18", "18", "36"] * 6


def test_forest_marks_what_was_not_run() -> None:
    left, _ = draw("resampling", partial("the paper's selectors")).axes

    # adaptive-random and rs2 against random, gradmatch against both.
    assert [text.get_text() for text in left.texts] == ["not run"] * 4


def test_forest_tells_runs_without_a_partner_from_runs_that_were_not_made() -> None:
    left, _ = draw("resampling", partial("no FULL")).axes

    # Of all contrasts only gradmatch against random has both its selectors, and no FULL.
    assert [text.get_text() for text in left.texts].count("no pairs") == 1


def test_forest_says_which_side_is_better(tables: Study) -> None:
    left, right = draw("resampling", tables).axes

    assert left.get_xlabel().endswith("← first is better")
    assert right.get_xlabel().endswith("first is faster →")


def test_intervals_over_data_sets_are_called_so(tables: Study) -> None:
    assert "95 % bootstrap interval over data sets" in words(draw("resampling", tables))
    assert "no bars: 1 seed" in words(
        draw("resampling", experiment(small(repeats=1, datasets=("dna",))))
    )


# --- ceiling --------------------------------------------------------------------------------


def test_combinations_stand_at_their_ceiling_and_speedup(tables: Study) -> None:
    table = tables.tradeoff
    figure = draw("ceiling", tables)

    for axes, scheduler in zip(figure.axes, ["hyperband", "asha"], strict=True):
        here = table[table["scheduler"] == scheduler]
        for selector in ("random", "adaptive-random", "rs2", "craig", "gradmatch"):
            rows = here[here["selector"] == selector]
            expected = rows[["ceiling", "speedup"]].values.tolist()
            assert scatters(axes, selector).tolist() == expected


def test_points_above_the_line_have_a_black_edge_and_are_counted(tables: Study) -> None:
    figure = draw("ceiling", tables)
    edges, above = [], []
    for axes in figure.axes:
        for drawn in axes.collections:
            if isinstance(drawn, PathCollection):
                edges += [to_hex(colour) for colour in drawn.get_edgecolor()]
                above += [y > x for x, y in np.asarray(drawn.get_offsets())]

    assert edges == ["#000000" if over else "#ffffff" for over in above]
    assert 0 < sum(above) < len(above)
    assert f"{sum(above)} above the line" in words(figure)


# --- anytime --------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "clock"), [(0, "elapsed_seconds"), (1, "elapsed_joules")])
def test_curves_are_the_steps_of_the_table(tables: Study, row: int, clock: str) -> None:
    curves = anytime(tables.trials[tables.trials["dataset"] == "dna"], clock)
    axes = draw("anytime", tables).axes[2 * row]
    here = curves[curves["scheduler"] == "hyperband"]
    drawn = {
        line.get_label(): np.column_stack(line.get_data())
        for line in axes.lines
        if line.get_label() != "_end"
    }

    expected = {
        names.SELECTORS[str(selector)]: group[["at", "median"]].to_numpy()
        for (selector, fraction), group in here.groupby(["selector", "fraction"])
        if fraction in (0.1, 1.0)
    }
    thin = here[(here["selector"] == "gradmatch") & (here["fraction"] == 0.05)]
    expected["_5 %"] = thin[["at", "median"]].to_numpy()
    assert drawn.keys() == expected.keys()
    assert all(np.array_equal(drawn[name], expected[name]) for name in expected)
    assert all(line.get_drawstyle() in ("steps-post", "default") for line in axes.lines)


def test_nearest_size_is_drawn_where_ten_percent_was_not_run() -> None:
    figure = draw("anytime", experiment(small(fractions=(0.01, 0.3))))

    assert "RS2 1 %" in legend(figure)


def test_missing_energy_is_said() -> None:
    figure = draw("anytime", partial("no energy"))

    assert "energy: not measured" in words(figure)
    assert [text.get_text() for axes in figure.axes[2:] for text in axes.texts] == [
        "no energy known"
    ] * 2


def test_missing_energy_takes_nothing_from_the_other_row() -> None:
    figure = draw("anytime", partial("no energy"))
    drawn_by(figure)

    assert [label.get_text() for label in figure.axes[0].get_yticklabels()].count("") < 2


def test_a_panel_without_the_size_of_the_legend_does_not_show_another() -> None:
    runs = small()
    lacking = (runs["selector"] == "rs2") & (runs["scheduler"] == "asha")
    figure = draw("anytime", experiment(runs[~lacking | (runs["fraction"] == 0.05)]))

    assert "RS2 10 %" in legend(figure)
    assert "RS2" in {line.get_label() for line in figure.axes[0].lines}
    assert "RS2" not in {line.get_label() for line in figure.axes[1].lines}


def test_anytime_says_what_its_scores_and_joules_are(tables: Study) -> None:
    text = words(draw("anytime", tables))

    assert "spread evenly over its time" in text
    assert "energy: estimated from CPU time" in text
    assert "models trained on subsets" in text


# --- time split -----------------------------------------------------------------------------


def test_bars_are_the_parts_of_the_table(tables: Study) -> None:
    table = time_split(tables.runs, tables.ratios)
    table = table[(table["dataset"] == "dna") & (table["scheduler"] == "hyperband")]
    axes = draw("time-split", tables).axes[0]

    bars = np.array([bar.get_width() for bar in axes.patches]).reshape(-1, len(PARTS))
    order = {name: i for i, name in enumerate(names.SELECTORS)}
    rows = table.sort_values(
        ["selector", "fraction"], key=lambda c: c.map(order.get) if c.name == "selector" else c
    )

    assert bars == pytest.approx(rows[[f"{part}_seconds" for part in PARTS]].to_numpy())


def test_parts_of_a_bar_lie_side_by_side(tables: Study) -> None:
    patches = draw("time-split", tables).axes[0].patches
    left = np.array([bar.get_x() for bar in patches]).reshape(-1, len(PARTS))
    width = np.array([bar.get_width() for bar in patches]).reshape(-1, len(PARTS))

    assert (left[:, 0] == 0).all()
    assert left[:, 1:] == pytest.approx((left + width)[:, :-1])


def test_bars_carry_their_speedup(tables: Study) -> None:
    table = tables.tradeoff
    row = table[
        (table["dataset"] == "dna")
        & (table["scheduler"] == "hyperband")
        & (table["selector"] == "gradmatch")
    ].sort_values("fraction")
    draws = tables.untuned.query("dataset == 'dna' and scheduler == 'hyperband'")

    shown = [text.get_text() for text in draw("time-split", tables).axes[0].texts]

    assert shown[0] == "1.00\N{MULTIPLICATION SIGN}"
    assert shown[2] == f"{draws['speedup'].iloc[0]:#.3g}\N{MULTIPLICATION SIGN}"
    assert shown[-2:] == [f"{value:#.3g}\N{MULTIPLICATION SIGN}" for value in row["speedup"]]


def test_parts_can_be_told_apart_without_colour(tables: Study) -> None:
    figure = draw("time-split", tables)
    patches = figure.axes[0].patches[: len(PARTS)]
    looks = {(to_hex(patch.get_facecolor()), patch.get_hatch()) for patch in patches}

    assert len(looks) == len(PARTS)
    assert all(len({to_hex(p.get_facecolor())[i : i + 2] for i in (1, 3, 5)}) == 1 for p in patches)


def test_selectors_look_alike_in_all_figures(tables: Study) -> None:
    (box,) = draw("rank-agreement", tables).legends
    shown = {line.get_label(): (line.get_color(), line.get_marker()) for line in box.get_lines()}

    assert all(
        shown[names.selector(name)] == (names.SELECTORS[name].colour, names.SELECTORS[name].marker)
        for name in ("random", "adaptive-random", "rs2", "craig", "gradmatch")
    )


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_cut_in_the_layout_that_it_is_drawn_in(
    name: str, tables: Study, tmp_path: Path
) -> None:
    figure = draw(name, tables)
    save(figure, tmp_path / "figure.png")
    cut = [axes.get_position().bounds for axes in figure.axes]
    for _ in range(3):
        figure.draw_without_rendering()

    assert [axes.get_position().bounds for axes in figure.axes] == cut
