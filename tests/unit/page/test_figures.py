import base64
from io import BytesIO

import pytest
from PIL import Image, ImageChops

from automata.page.figures import albums, caption, embedded, figures


def test_known_figures_come_with_their_captions_and_others_do_not(experiment):
    (shown,) = figures(experiment / "figures", ["dna", "trec6"])
    assert shown.name == "main"
    assert shown.caption.startswith("All panels: speedup")


@pytest.mark.parametrize(("datasets", "empty"), [(["dna"], True), (["dna", "trec6"], False)])
def test_figure_of_the_paper_without_a_run_is_empty(experiment, datasets, empty):
    (main,) = figures(experiment / "figures", datasets)
    assert main.empty == empty


def test_figures_per_data_set_are_an_album(experiment):
    (album,) = albums(experiment / "figures", ["trec6", "dna"])
    assert album.name == "anytime"
    assert [figure.title for figure in album.figures] == ["DNA"]


def test_figures_of_data_sets_without_runs_are_left_out(experiment):
    assert albums(experiment / "figures", ["trec6"]) == []


def test_missing_folder_has_no_figures(tmp_path):
    assert figures(tmp_path / "none", tmp_path, ["dna"]) == []


def test_caption_that_only_the_workflow_can_fill_is_none(tmp_path):
    (tmp_path / "a.rst").write_text("On {{ snakemake.wildcards.dataset }}")
    assert caption(tmp_path, "a") == ""


def test_image_keeps_its_size_in_print_and_every_pixel(tmp_path):
    drawn = Image.effect_mandelbrot((400, 200), (-2, -1, 2, 1), 50).quantize(200)
    drawn.save(tmp_path / "a.png", dpi=(200, 200))
    uri, width, height = embedded(tmp_path / "a.png")
    assert (width, height) == (240, 120)  # 2 x 1 inches
    start, text = uri.split(",")
    assert start == "data:image/webp;base64"
    with Image.open(BytesIO(base64.b64decode(text))) as shown:
        assert ImageChops.difference(shown.convert("RGB"), drawn.convert("RGB")).getbbox() is None
