import base64
import io

import numpy as np
import pytest
from PIL import Image

from automata.page.figures import COLOURS, WIDEST, albums, caption, embedded, figures


def test_known_figures_come_with_their_captions_and_others_do_not(experiment):
    (shown,) = figures(experiment / "figures", experiment / "captions", ["dna", "trec6"])
    assert shown.name == "main"
    assert shown.caption.startswith("All panels: speedup")


@pytest.mark.parametrize(("datasets", "empty"), [(["dna"], True), (["dna", "trec6"], False)])
def test_figure_of_the_paper_without_a_run_is_empty(experiment, datasets, empty):
    (main,) = figures(experiment / "figures", experiment / "captions", datasets)
    assert main.empty == empty


def test_figures_per_data_set_are_an_album(experiment):
    (album,) = albums(experiment / "figures", experiment / "captions", ["trec6", "dna"])
    assert album.name == "anytime"
    assert [figure.title for figure in album.figures] == ["DNA"]


def test_figures_of_data_sets_without_runs_are_left_out(experiment):
    assert albums(experiment / "figures", experiment / "captions", ["trec6"]) == []


def test_missing_folder_has_no_figures(tmp_path):
    assert figures(tmp_path / "none", tmp_path, ["dna"]) == []


def test_caption_that_only_the_workflow_can_fill_is_none(tmp_path):
    (tmp_path / "a.rst").write_text("On {{ snakemake.wildcards.dataset }}")
    assert caption(tmp_path, "a") == ""


def test_image_keeps_its_size_in_print(experiment):
    uri, width, height = embedded(experiment / "figures/main.png")
    assert uri.startswith("data:image/png;base64,")
    assert (width, height) == (240, 120)  # 2 x 1 inches


def test_background_stays_white_in_few_colours(tmp_path):
    colours = np.random.default_rng(0).integers(0, 256, (100, 100, 3), dtype=np.uint8)
    colours[:, :70] = 255  # as most of a figure is
    Image.fromarray(colours).save(tmp_path / "a.png")
    uri, _, _ = embedded(tmp_path / "a.png")
    with Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))) as image:
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        assert len(image.getcolors()) <= COLOURS


def test_large_image_is_scaled(tmp_path):
    Image.new("RGB", (4000, 1000), "red").save(tmp_path / "a.png")
    uri, _, _ = embedded(tmp_path / "a.png")
    with Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))) as image:
        assert image.size == (WIDEST, WIDEST // 4)
        assert image.convert("RGB").getpixel((0, 0)) == (255, 0, 0)
