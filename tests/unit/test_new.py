"""`automata new` writes configurations that the project reads and prepares."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from automata import new as module
from automata.config.data import OwnTabular
from automata.config.experiment import TAKEN
from automata.config.files import DEFAULTS, RECOMMENDED, read_experiments
from automata.datasets.catalog import DATASETS
from automata.datasets.own import load
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.errors import UserError
from automata.new import PATIENCE, SPACES, name_of, new
from automata.tuning.schedulers import final_epochs
from automata.tuning.sizes import ALL_DATA, HEDGE, SIZES, Method, Size, fitting, plan_of

RANDOM = np.random.default_rng(0)
ROWS = 300
FLOWERS = Path("flowers.csv")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working directory with a table that has a column of each kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "PROBE_SECONDS", 0.0)  # one probe of FIRST_ROWS is enough
    monkeypatch.setattr(module, "watts_per_thread", lambda: 5.0)  # takes seconds
    mixed().to_csv(FLOWERS, index=False, sep=";", decimal=",", encoding="utf-16")


def mixed():
    """Return a table with one column of each kind, and three that say nothing."""
    frame = pd.DataFrame(
        {
            "row": range(1, ROWS + 1),
            "height": RANDOM.normal(10, 3, ROWS).round(2),
            "soil": RANDOM.choice(["sand", "clay"], ROWS),
            "town": [f"t{number}" for number in RANDOM.integers(0, 90, ROWS)],
            "seen": [f"2021-0{month}-11" for month in RANDOM.integers(1, 9, ROWS)],
            "label": [f"sample {number}" for number in range(ROWS)],
            "device": 1,
            "species": RANDOM.choice(["setosa", "virginica"], ROWS, p=[0.9, 0.1]),
        }
    )
    frame.loc[::9, "height"] = None
    return frame


def new_flowers(target="species", output=None, **options):
    """Return the summary of `automata new` for the table."""
    return new(FLOWERS, target, None, output and Path(output), 1.0, **options)


def test_index_marks_codes_and_a_missing_header_are_recognised():
    amounts, codes = RANDOM.normal(10, 3, 58).round(2), RANDOM.integers(0, 7, 60)
    towns = [f"{code:05d}" for code in codes]
    frame = pd.DataFrame({"alcohol": [*amounts, "?", "-"], "town": towns, "y": ["a", "b"] * 30})
    frame.to_csv("t.csv")
    own = guess(Path("t.csv"), "y", None).own
    assert own == {"path": "t.csv", "kind": "tabular", "target": "y"}
    frame.head(58).assign(town=codes[:58]).to_csv("t.csv", index=False, header=False)
    own = guess(Path("t.csv"), "column 3", None).own
    assert (own["header"], own["target"]) == (False, "column 3")


def test_folders_and_files_show_their_kind():
    Path("said/good").mkdir(parents=True)
    Path("said/good/1.txt").write_text("a good one")
    assert guess(Path("said"), None, None).own["kind"] == "text"
    Path("digits.npz").touch()
    assert guess(Path("digits.npz"), None, None).own["kind"] == "image"
    reviews = ["这部电影很好看 我非常喜欢它", "太无聊了 我不喜欢这部电影"]
    pd.DataFrame({"r": reviews * 20, "y": [1, 0] * 20}).to_csv("zh.csv", index=False)
    assert guess(Path("zh.csv"), "y", None).own["text"] == "r"


SORTED = np.repeat(["a", "b", "c"], 40)
"""Classes of a file that is sorted by them."""


def own_of(columns, classes=None, **options):
    """Return what is guessed for a table of some columns."""
    y = SORTED if classes is None else classes
    pd.DataFrame({**columns, "y": y}).to_csv("t.csv", index=False)
    return guess(Path("t.csv"), "y", None, **options)


def noisy(spread):
    """Return a feature of the sorted classes."""
    return {"x": (np.repeat([0, 1, 2], 40) + RANDOM.normal(0, spread, 120)).round(3)}


@pytest.mark.parametrize(
    ("identifiers", "spread", "dropped"),
    [
        (np.sort(RANDOM.permutation(150)[:120]), 0.3, "seems to number the rows"),
        (np.arange(0, 600, 5), 0.0, "seems to number the rows"),
        (np.roll(np.arange(0, 600, 5), 1), 0.3, "predicts alone better than all others together"),
        (np.roll(np.arange(0, 600, 5), 1), 0.0, None),  # not better
        (RANDOM.permutation(10_000)[:120], 0.3, None),
        (RANDOM.permutation(10**7)[:120] + 10**7, 2.0, None),
    ],
)
def test_an_identifier_is_named_and_left_out_where_it_holds_the_class(identifiers, spread, dropped):
    guessed = own_of(noisy(spread) | {"Id": identifiers})
    assert guessed.own.get("drop", []) == ["Id"] * (dropped is not None)
    assert guessed.reasons.get("Id", "").startswith(dropped or "")
    read = load("t", OwnTabular.model_validate(guessed.own)).facts["read"]
    named = "Id: number (looks like an identifier: drop leaves it out)"
    assert (named in read) is (dropped is None)


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (pd.date_range("2020-01-01", periods=120).strftime("%d/%m/%Y"), "with order: when the"),
        (pd.date_range("2020-01-01", periods=120, freq="7h").astype(str), "with order: when the"),
        (np.resize(["1:00 PM", "2:30 PM"], 120), None),
        (np.resize([2020, 2021], 120), None),
    ],
)
def test_dates_propose_an_order(cells, advice):
    found = own_of(noisy(1) | {"when": cells}).advice
    assert [advice in it for it in found if it.startswith("when")] == [True] * (advice is not None)


@pytest.mark.parametrize(
    ("name", "cells", "is_group"),
    [
        ("subject_id", np.resize(np.arange(12), 120), True),
        ("PatientID", np.resize([f"p{number}" for number in range(30)], 120), True),
        ("user", np.resize([*"abcdef"], 120), True),
        ("idle", np.resize([*"abcdef"], 120), False),
        ("id", RANDOM.permutation(10_000)[:120], False),
    ],
)
def test_identifiers_that_repeat_propose_groups(name, cells, is_group):
    assert any(f"with group: {name} " in it for it in own_of(noisy(1) | {name: cells}).advice) is (
        is_group
    )


def test_rows_that_are_left_out_decide_nothing():
    table = pd.DataFrame({**noisy(1), "y": SORTED}).to_csv(index=False)
    Path("t.csv").write_text(table + "".join(f"Total {number},\n" for number in range(9)))
    own = guess(Path("t.csv"), "y", None, skip_rows=True).own
    assert own.keys() == {"kind", "path", "target", "skip_rows"}


def test_columns_with_many_odd_cells_are_left_out_or_categories_with_the_remedy():
    x = noisy(1)["x"].astype(str)
    x[::10] = "k.A."
    guessed = own_of({"x": x, "n": np.resize(["1", "2", "3+"], 120), "z": range(0, 240, 2)})
    assert (guessed.own["drop"], guessed.own["categorical"]) == (["x", "z"], ["n"])
    assert guessed.reasons["x"].startswith(
        "12 of 120 cells are no number: 'k.A.': missing makes them gaps (missing: [\"k.A.\"])"
    )
    assert guessed.reasons["n"].startswith("40 of 120 cells are no number: '3+': missing makes")


def test_numbers_that_are_not_whole_are_classes_if_they_are_few():
    ratings = np.resize(["1.0", "1.5", "2.0"], 120)
    assert own_of(noisy(1), ratings).own["categorical"] == ["y"]
    with pytest.raises(UserError, match=r"amounts: .*categorical: \[y\]"):
        own_of(noisy(1), RANDOM.normal(size=120))


def test_columns_of_texts_are_named_with_the_option_that_takes_one():
    says = [f"number {number} says that it is good" for number in range(120)]
    with pytest.raises(UserError, match=r"no column .*--text title .*--text review classifies"):
        own_of({"title": says, "review": says[::-1]})
    with pytest.raises(UserError, match="no column can be a feature: there is no other"):
        own_of({})
    guessed = own_of({**{f"x{number}": noisy(1)["x"] for number in range(6)}, "review": says})
    assert guessed.own["drop"] == ["review"]
    assert guessed.reasons["review"].endswith("--text review classifies these texts")
    own_of({"n": range(120), "review": says})
    assert guess(Path("t.csv"), "y", "review").advice == ["n: left out (beside the texts)"]


def texts():
    said = [f"the {word} room was fine today" for word in RANDOM.choice(["big", "old"], ROWS)]
    frame = pd.DataFrame({"n": range(ROWS), "review": said, "y": RANDOM.choice([1, 5], ROWS)})
    frame.to_csv("123.tsv", sep="\t", index=False)


def images():
    for number in range(20):
        image = Path("pics", ("cat", "dog")[number % 2], f"{number}.png")
        image.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(RANDOM.integers(0, 256, (8, 8, 3), np.uint8)).save(image)


@pytest.mark.parametrize(
    ("make", "file", "target", "kind"),
    [
        (dict, "flowers.csv", "species", "tabular"),
        (texts, "123.tsv", "y", "text"),  # the name is no number in YAML
        (images, "pics", None, "image"),
    ],
)
def test_configuration_is_read_and_its_data_prepared(tmp_path, make, file, target, kind):
    make()
    summary = new(Path(file), target, None, None, 1.0)
    name = Path(file).stem
    workflow = Path(__file__).parents[2] / "workflow/Snakefile"
    assert f"next: snakemake --cores all --snakefile {workflow} --configfile {name}.yaml" in summary
    (experiment,) = read_experiments([DEFAULTS, Path(f"{name}.yaml")])
    assert experiment.kind(name) == kind
    assert len(prepare(name, experiment.preparation(name), tmp_path).train) > 0
    protocol = experiment.protocol_of(name)
    balanced = ("balanced_accuracy", "balanced"), ("accuracy", "none")
    assert (protocol.metric, protocol.class_weights) == balanced[name != "flowers"]
    assert (protocol.patience, protocol.break_ties) == (PATIENCE, True)
    space = {key: it.model_dump(mode="json") for key, it in protocol.search_space.items()}
    assert space.items() >= SPACES[kind].items()


def test_large_data_are_tuned_as_recommended():
    pd.concat([mixed()] * 15).to_csv(FLOWERS, index=False)
    assert "3150 training rows" in new_flowers()
    recommended = yaml.safe_load(RECOMMENDED.read_text())
    of_kind = recommended.pop("protocol")["tabular"]
    written = yaml.safe_load(Path("flowers.yaml").read_text())
    assert written.items() >= recommended.items()
    assert written["protocol"]["tabular"].items() >= of_kind.items()
    # The cost is that of these keys.
    (experiment,) = read_experiments([DEFAULTS, Path("flowers.yaml")])
    protocol = experiment.protocol_of("flowers")
    assert len(protocol.screens) * recommended["fractions"][0] == HEDGE.search
    assert final_epochs(protocol) / protocol.epochs == pytest.approx(HEDGE.final, abs=0.02)


def test_rows_without_a_class_are_left_out_on_request():
    frame = mixed()
    frame.loc[:9, "species"] = None
    frame.to_csv(FLOWERS, index=False)
    with pytest.raises(UserError, match=r"missing classes: 10.*automata new --skip-rows"):
        new_flowers()
    assert "left out for their class: 10" in new_flowers(skip_rows=True)


def test_existing_file_is_not_replaced():
    Path("flowers.yaml").write_text("mine")
    with pytest.raises(UserError, match=r"flowers\.yaml: already exists.* by --force"):
        new_flowers()
    assert Path("flowers.yaml").read_text() == "mine"
    new_flowers(force=True)
    assert Path("flowers.yaml").read_text().startswith("# snakemake")
    for output in ("flowers.csv", ""):  # the data, and a folder
        with pytest.raises(UserError, match="already exists"):
            new_flowers(output=f"./{output}", force=True)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, r"--target: missing; columns that can be classes: soil, town, seen, species"),
        ("color", "--target: 'color' is no column"),
        ("row", "300 different numbers, such as 1, are amounts"),
    ],
)
def test_column_that_cannot_be_the_target_is_refused_in_one_line(target, message):
    with pytest.raises(UserError, match=message) as caught:
        new_flowers(target)
    assert "\n" not in str(caught.value)


def test_largest_search_that_fits_is_taken():
    plans = [
        fitting(seconds, 1.0, 1, None, ALL_DATA) for seconds in (0.001, 0.5, 2.0, 10.0, 60.0, 1e6)
    ]
    sizes = [SIZES.index(plan.size) for plan in plans]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (0, len(SIZES) - 1)
    assert all(plan.seconds <= 3600 for plan in plans[:3])


@pytest.mark.parametrize("seconds", [0.05, 3.0, 700.0])
@pytest.mark.parametrize("method", [ALL_DATA, HEDGE])
def test_search_too_small_for_a_good_model_names_the_hours_that_are_enough(seconds, method):
    advice = fitting(seconds, 0.001, 1, None, method).advice
    hours = float(re.search(r"--hours ([\d.]+) is enough for 9 conf", advice)[1])
    enough, less = (fitting(seconds, it, 1, None, method) for it in (hours, 0.8 * hours - 0.01))
    assert enough.size >= Size(9, 27, 1)
    assert (enough.advice, less.advice) == ("", advice)


def test_search_too_small_for_a_good_model_is_said_in_the_summary_and_the_file(monkeypatch):
    monkeypatch.setattr(module, "seconds_per_pass", lambda data, job: 60.0)
    said = "This search is too small to find a good model: --hours "
    assert f"\n{said}" in new_flowers()
    assert f"\n# {said}" in Path("flowers.yaml").read_text()
    monkeypatch.setattr(module, "seconds_per_pass", lambda data, job: 1.0)
    assert said not in new_flowers(force=True) + Path("flowers.yaml").read_text()


def test_cost_of_a_search_is_that_of_its_brackets_and_cores():
    # 9 configurations: 3 in full, 5 of which 2 go on after 3 epochs, 1 that nothing stops.
    search = 3 * 9 + (5 * 3 + 2 * 6) + 9
    assert Size(9, 9, 2).passes(1, ALL_DATA) == 2 * search
    assert Size(9, 9, 2).passes(9, ALL_DATA) == 2 * 9  # a core for each trial: the longest decides
    assert Size(9, 9, 1).passes(1, Method(0.1, 2.0)) == 0.1 * search + 2 * 9
    size = Size(27, 81, 1)
    alone, both, many = (plan_of(size, 10.0, cores, 5.0, ALL_DATA) for cores in (1, 2, 64))
    assert (alone.slots, both.slots, many.slots) == (1, 2, 27)
    assert alone.seconds / 2 < both.seconds < alone.seconds
    assert both.kwh == alone.kwh == pytest.approx(5.0 * alone.seconds / 3.6e6)


def test_probe_extrapolates_the_time_of_an_epoch(monkeypatch):
    job = module._job("flowers", guess(FLOWERS, "species", None))
    data = prepare("flowers", job.settings.data, Path())
    ticks = iter(range(1000))
    monkeypatch.setitem(module.CLOCKS, "cpu", lambda: float(next(ticks)))
    monkeypatch.setattr(module, "FIRST_ROWS", 100)
    assert module.seconds_per_pass(data, job) == pytest.approx(len(data.train) / 100)


@pytest.mark.parametrize(("cores", "compute"), [(1, None), (64, {"concurrent_trials": 27})])
def test_trials_use_the_cores_of_the_machine(cores, compute, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(cores))
    monkeypatch.setattr(module, "seconds_per_pass", lambda data, job: 1e-3)
    assert "27 configurations, 81 epochs, 3 seed(s), " in new_flowers()
    assert yaml.safe_load(Path("flowers.yaml").read_text()).get("compute") == compute


def test_half_a_cpu_takes_twice_the_time_for_the_same_energy_and_is_said(monkeypatch):
    monkeypatch.setattr(module, "seconds_per_pass", lambda data, job: 3e5)
    monkeypatch.setattr(module, "cpu_quota", lambda: 0.5)
    monkeypatch.setattr(module, "cpus", lambda: 1)
    assert "1 at once: about 825.0 hours, 4.1 kWh, more than 1 h; there is no" in new_flowers()
    monkeypatch.setattr(module, "cpus", lambda: 0.5)
    said = re.compile("1 at once: about 1650.0 hours, 4.1 kWh.*\na CPU quota .* allows 0.5 CPUs\n")
    assert said.search(new_flowers(output="half.yaml"))


def test_every_file_name_becomes_a_free_name():
    assert name_of(Path("letter.csv")) == "letter-table"
    assert name_of(Path("data.npz")) == "data-images"
    for name in [*DATASETS, *TAKEN, "all", "x" * 200, "Ä", "-", "a b.c"]:
        free = name_of(Path(f"{name}.csv"))
        own = {free: {"kind": "image", "path": "x"}}
        read_experiments([DEFAULTS], {"experiment": free, "datasets": [free], "own_datasets": own})


HOSTILE = {
    "row": "- row\n# \nseeds: [9]",
    "town": "town\nray:\n  address: 192.0.2.1:6379\n#",
    "seen": "seen\x85data: {cache: /tmp}\u2028x: 1\r",
    "label": "null",
    "device": "\x1b[2J\u202e#\x7f\U0001f600",
    "species": 'species"\n    drop: []',
}


def test_hostile_names_of_columns_and_classes_add_no_keys(monkeypatch):
    """The file equals that for harmless names, with the hostile ones in their place."""
    monkeypatch.setattr(module, "seconds_per_pass", lambda data, job: 1e-3)
    new_flowers(output="harmless.yaml")
    frame = mixed()
    frame["species"] = frame["species"] + "\nray: {address: 192.0.2.1}"
    frame.rename(columns=HOSTILE).to_csv(FLOWERS, index=False, quoting=csv.QUOTE_ALL)
    summary = new_flowers(HOSTILE["species"], "hostile.yaml")
    harmless = yaml.safe_load(Path("harmless.yaml").read_text())
    own = harmless["own_datasets"]["flowers"]
    assert own["drop"] == ["row", "label", "device"]
    own["drop"] = [HOSTILE.get(name, name) for name in own["drop"]]
    own["target"] = HOSTILE["species"]
    assert yaml.safe_load(Path("hostile.yaml").read_text()) == harmless
    assert "\x1b" not in Path("hostile.yaml").read_text() + summary
