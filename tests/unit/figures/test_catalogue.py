"""Figures by name, and the command that writes them."""

import pytest

from automata.cli import main
from automata.errors import UserError
from automata.figures.files import draw


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


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_command_writes_each_figure_in_both_formats(small, tmp_path, processes):
    names = ["image", "ceiling", "tradeoff/sst5", "energy/sst5"]
    options = ["--processes", processes, "--output", str(tmp_path)]
    main(["plot", str(small.folder), *names, *options])
    files = {p.relative_to(tmp_path).as_posix(): p for p in tmp_path.rglob("*.*")}
    assert set(files) == {f"{name}.{form}" for name in names for form in ("pdf", "png")}
    assert {p.read_bytes()[:4] for p in files.values()} == {b"%PDF", b"\x89PNG"}
