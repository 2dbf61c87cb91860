"""Figures by name: what can be read in the largest grids, and what is written."""

import re

import pytest
from matplotlib.text import Text

from automata.analysis.views import BEYOND, DATASETS, FIGURES, PAPER, figures, named
from automata.cli import main
from automata.errors import UserError
from automata.figures.files import draw
from automata.figures.style import PAGE_INCHES, save
from support.stored import check_stored
from support.synthetic import synthetic_runs

from .drawn import boxes, content, outside, overlaps

OF_WHOLE = [*named(PAPER), "tradeoff/glue-sst2"]
OF_SOME = [*named(BEYOND), *(f"{it}/dna" for it in named(DATASETS) if not FIGURES[it].own)]
LIKE_MAIN = ("image", "tabular", "text")
"""Grids of the same panels, with fewer rows."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OF_WHOLE, *OF_SOME])
def test_a_figure_shows_what_is_stored_and_nothing_overlaps_or_is_too_small(
    whole, some, drawn, name
):
    figure = drawn(name, whole if name in OF_WHOLE else some)  # of all selectors, or of trials
    extents = boxes(figure)
    words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert overlaps(extents) == []
    assert outside(figure, extents) == []
    assert min(text.get_fontsize() for text in words) >= 5  # points
    assert figure.get_figwidth() <= PAGE_INCHES
    assert figure.get_figheight() < 9  # fits on a page of the paper
    check_stored(name, content(figure))


@pytest.fixture(scope="session")
def empty(make_study, small_runs):
    """AUTOMATA alone, without FULL, of a data set that the paper does not have."""
    runs = small_runs[small_runs["selector"] == "gradmatch"].assign(dataset="mine")
    return make_study(runs, trials=True)


@pytest.mark.parametrize("name", [it for it in named(PAPER, BEYOND) if it not in LIKE_MAIN])
def test_a_figure_without_anything_to_show_says_so(empty, drawn, name):
    figure = drawn(name, empty)
    words = " ".join(text.get_text() for text in figure.findobj(Text))
    assert overlaps(boxes(figure)) == []
    assert re.search("not run|no comparable run|no two selectors", words)


def test_figures_are_written_the_same_twice_and_nothing_else(small, tmp_path):
    for copy in "ab":
        save(
            draw("rank-agreement", small),
            *(tmp_path / copy / f"figure.{end}" for end in ("pdf", "png")),
        )
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / copy).iterdir()} for copy in "ab")
    assert set(first) == {"figure.pdf", "figure.png"}
    assert first == second


@pytest.mark.parametrize(
    ("dataset", "selectors"),
    [
        ("connect4", ("gradmatch", "random")),
        ("connect4", ("full", "gradmatch")),
        pytest.param("connect4", ("full", "random"), marks=pytest.mark.slow),
        pytest.param("connect4", ("full", "craig", "rs2"), marks=pytest.mark.slow),
        pytest.param("svhn", ("full", "random", "rs2"), marks=pytest.mark.slow),
        pytest.param("mine", ("full", "gradmatch"), marks=pytest.mark.slow),
        ("mine", ("full", "random", "own")),
    ],
)
def test_figures_of_a_plan_are_those_that_show_some_of_its_runs(make_study, dataset, selectors):
    axes = {"datasets": ("connect4",), "searches": ("tpe",), "fractions": (0.1,), "repeats": 1}
    runs = synthetic_runs(selectors=selectors, **axes).assign(dataset=dataset)
    study = make_study(runs, trials=True)
    planned = figures({(dataset, "tpe", "hyperband"): selectors})
    for name in named(PAPER, BEYOND):
        figure = draw(name, study)
        artists = [
            one for axes in figure.axes for one in (*axes.lines, *axes.collections, *axes.patches)
        ]
        own = {one.get_gid() for one in artists} - {None}
        own -= {"mean full", "bars"} if name == "performance-summary" else set()
        assert (name in planned) == bool(own), name


def test_full_and_other_controls_alone_compare_nothing():
    assert figures({("dna", "tpe", "hyperband"): ["full", "full-again", "untuned"]}) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mian", "figure 'mian' is not one of performance-summary, main"),
        ("main/sst5", "figure 'main/sst5' is not one of tradeoff, energy"),
        ("tradeoff/mnist", "dataset 'mnist' is not one of sst5$"),
    ],
)
def test_another_figure_or_data_set_is_one_line_that_names_those_there_are(small, name, message):
    with pytest.raises(UserError, match=f"^{message}"):
        draw(name, small)


def test_the_command_writes_each_figure_in_both_formats(small, tmp_path):
    names = ["image", "rank-agreement", "tradeoff/sst5", "energy/sst5"]
    main(["plot", str(small.folder), *names, "--output", str(tmp_path)])
    files = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*.*")}
    assert set(files) == {f"{name}.{form}" for name in names for form in ("pdf", "png")}
    assert {p.read_bytes()[:4] for p in files.values()} == {b"%PDF", b"\x89PNG"}
