"""`automata new` writes configurations that the project reads and prepares."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from PIL import Image

from automata import allocation
from automata.catalog import DATASETS
from automata.config.data import OwnTabular, Preparation
from automata.config.experiment import TAKEN
from automata.config.files import DEFAULTS, RECOMMENDED, read_experiments
from automata.datasets.own import load
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Split
from automata.errors import UserError
from automata.experiment import new as module
from automata.experiment import probe, recommended
from automata.experiment.new import name_of, new
from automata.experiment.recommended import (
    ASHA,
    CONVNET,
    HEDGE,
    HYPERBAND,
    PATIENCE,
    SPACES,
)
from automata.experiment.sizes import SIZES, Epoch, Size

RANDOM = np.random.default_rng(0)
ROWS = 300
FLOWERS = Path("flowers.csv")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A working directory with a table that has a column of each kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"{__name__}.RANDOM", np.random.default_rng(0))  # whatever ran before
    monkeypatch.setattr(probe, "EPOCH_SECONDS", 0.0)  # one probe of FIRST_ROWS is enough
    monkeypatch.setattr(probe, "PROBED", 1)
    monkeypatch.setattr("automata.experiment.sizes.ORDERS", 4)  # of ten
    monkeypatch.setattr(recommended, "watts_per_thread", lambda: 5.0)  # takes seconds
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


def new_flowers(target="species", output=None, hours=1.0, **options):
    """Return the summary of `automata new` for the table."""
    return new(FLOWERS, target, None, output and Path(output), hours, **options)


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
        (np.roll(np.arange(0, 6000, 50), 1), 0.3, None),  # as prices are
        (RANDOM.permutation(10_000)[:120], 0.3, None),
        (RANDOM.permutation(10**7)[:120] + 10**7, 2.0, None),
    ],
)
def test_an_identifier_is_named_and_left_out_where_it_holds_the_class(identifiers, spread, dropped):
    guessed = own_of(noisy(spread) | {"Id": identifiers})
    assert guessed.own.get("drop", []) == ["Id"] * (dropped is not None)
    assert guessed.reasons.get("Id", "").startswith(dropped or "")
    read = load("t", OwnTabular.model_validate(guessed.own)).facts["read"]
    named = "Id: number (kept; looks like an identifier: add it to drop to leave it out)"
    assert (named in read) is (dropped is None)


@pytest.mark.parametrize(
    ("name", "cells", "advice"),
    [
        ("at", pd.date_range("2020-01-01", periods=120).strftime("%d/%m/%Y"), "with order: at the"),
        ("at", pd.date_range("2020", periods=120, freq="7h").astype(str), "with order: at the"),
        ("at", np.resize(["1:00 PM", "2:30 PM"], 120), None),
        ("at", np.resize([2020, 2021], 120), None),
        ("subject_id", np.resize(np.arange(12), 120), "with group: subject_id "),
        ("PatientID", np.resize([f"p{number}" for number in range(30)], 120), "group: PatientID "),
        ("User", np.resize([*"abcdef"], 120), "with group: User "),
        ("idle", np.resize([*"abcdef"], 120), None),
        ("id", RANDOM.permutation(10_000)[:120], None),
    ],
)
def test_dates_propose_an_order_and_identifiers_that_repeat_groups(name, cells, advice):
    found = own_of(noisy(1) | {name: cells}).advice
    assert [advice in it for it in found if it.startswith(name)] == [True] * (advice is not None)


def test_keys_of_the_user_stay_beside_the_columns_that_are_left_out():
    columns = {**noisy(0.3), "junk": 1, "Id": np.arange(0, 600, 5)}
    assert own_of(columns, asked={"drop": ["junk"]}).own["drop"] == ["junk", "Id"]
    kept = own_of(columns, asked={"categorical": ["Id"]})
    assert (kept.own["drop"], kept.own["categorical"]) == (["junk"], ["Id"])
    alone = {"Id": np.arange(0, 600, 5), "junk": RANDOM.normal(size=120).round(3)}
    with pytest.raises(UserError, match="no column can be a feature: Id seems to number the rows"):
        own_of(alone, asked={"drop": ["junk"]})
    texts = {it: np.resize(["a long enough text", "some other words here"], 120) for it in "tuv"}
    assert own_of(texts, asked={"kind": "text", "text": "t"}).own["text"] == "t"
    Path("t.csv").write_text("1,2,a\n3,4,b\n" * 20)
    assert guess(Path("t.csv"), "column 3", None, {"header": False}).own["header"] is False


def test_rows_that_are_left_out_decide_nothing():
    table = pd.DataFrame({**noisy(1), "y": SORTED}).to_csv(index=False)
    Path("t.csv").write_text(table + "".join(f"Total {number},\n" for number in range(9)))
    new(Path("t.csv"), "y", None, None, 1.0, skip_rows=True)
    (own,) = yaml.safe_load(Path("t.yaml").read_text())["own_datasets"].values()
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


@pytest.mark.parametrize(
    "cells", [[f"less than {it} years ago" for it in range(7)], pd.date_range("2019", periods=120)]
)
def test_answers_and_dates_of_many_words_are_no_texts(cells):
    texts = [it if isinstance(it, str) else f"{it:%d %b %Y %I:00 PM}" for it in cells]
    assert own_of({**noisy(1), "when": np.resize(texts, 120)}).own["kind"] == "tabular"


def test_columns_of_texts_are_named_with_the_option_that_takes_one():
    says = [f"number {number} says that it is good" for number in range(120)]
    with pytest.raises(UserError, match=r"no column .*text: title .*text: review classifies"):
        own_of({"title": says, "review": says[::-1]})
    with pytest.raises(UserError, match="no column can be a feature: there is no other"):
        own_of({})
    guessed = own_of({**{f"x{number}": noisy(1)["x"] for number in range(6)}, "review": says})
    assert guessed.own["drop"] == ["review"]
    assert guessed.reasons["review"].endswith("text: review classifies these texts")
    own_of({"n": range(120), "review": says})
    assert guess(Path("t.csv"), "y", "review").advice == ["n: left out (beside the texts)"]


def texts():
    said = [f"the room was fine on day {number}" for number in RANDOM.integers(0, 99, ROWS)]
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
    workflow = Path(__file__).parents[3] / "workflow/Snakefile"
    assert f"next: snakemake --cores all --snakefile {workflow} --configfile {name}.yaml" in summary
    (experiment,) = read_experiments([DEFAULTS, Path(f"{name}.yaml")])
    assert experiment.kind(name) == kind
    assert len(prepare(name, experiment.preparation(name), tmp_path).train) > 0
    protocol = experiment.protocol_of(name)
    balanced = ("balanced_accuracy", "balanced"), ("accuracy", "none")
    assert (protocol.metric, protocol.class_weights) == balanced[name != "flowers"]
    assert (protocol.patience, protocol.break_ties) == (PATIENCE, True)
    space = {key: it.model_dump(mode="json") for key, it in protocol.search_space.items()}
    changed = CONVNET["search_space"] if kind == "image" else SPACES[kind]
    assert space.items() >= changed.items()


@pytest.fixture
def epochs(monkeypatch):
    """Let the probe find epochs of so many seconds."""

    def found(*seconds):
        costs = [Epoch(it, 0.01 * it) for it in seconds]
        monkeypatch.setattr(recommended, "probed", lambda data, job: costs)

    return found


def rows(count, kind="tabular"):
    """Return a data set with so many training rows, as far as a plan reads it."""
    data = prepare("data", Preparation.model_validate({"own": FLOWERS_KEYS}), Path())
    inputs = data.train.inputs[..., None, None] if kind == "image" else data.train.inputs
    train = Split(inputs, torch.arange(count) % 2)
    return replace(data, kind=kind, train=train)


FLOWERS_KEYS = {"kind": "tabular", "path": str(FLOWERS), "target": "species", "drop": ["label"]}
BASES = {
    "tabular": {"datasets": ["data"], "own_datasets": {"data": FLOWERS_KEYS}},
    "text": {"datasets": ["trec6"]},
    "image": {"datasets": ["cifar10"]},
}


def plan(data, hours=1e9, sizes=SIZES):
    """Return the recommended search."""
    return recommended.recommended(data, BASES[data.kind], {}, hours, sizes)


def test_large_data_are_tuned_as_recommended(epochs, monkeypatch):
    monkeypatch.setattr(module, "SIZES", (Size(27, 81, 3),))
    monkeypatch.setattr(recommended, "cpus", lambda: 1)
    epochs(1.0)
    pd.concat([mixed()] * 15).to_csv(FLOWERS, index=False)
    assert "3150 training rows" in new_flowers()
    keys = yaml.safe_load(RECOMMENDED.read_text())
    of_kind = keys.pop("protocol")["tabular"]
    written = yaml.safe_load(Path("flowers.yaml").read_text())
    assert written.items() >= keys.items()
    assert written["protocol"]["tabular"].items() >= of_kind.items()


@pytest.mark.parametrize(
    ("pixels", "device", "asked", "expected"),
    [
        (64, "cpu", {}, CONVNET["search_space"]),
        (65, "cpu", {}, SPACES["image"]),
        (64, "cuda", {}, SPACES["image"]),
        (64, "cpu", {"model": "resnet18"}, SPACES["image"]),
    ],
)
def test_small_images_are_for_a_small_net_unless_there_is_a_gpu_or_the_user_names_another(
    pixels, device, asked, expected, epochs, monkeypatch
):
    monkeypatch.setattr(recommended, "choose_device", lambda compute, kind: torch.device(device))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    epochs(1.0)
    split = Split(torch.zeros(9, 3, 4, pixels), torch.arange(9) % 2)
    data, changes = replace(rows(9, "image"), train=split), {"protocol": {"image": asked}}
    found = recommended.recommended(data, BASES["image"], changes, 1.0, SIZES)
    assert found.keys["protocol"]["image"]["search_space"] == expected


BY_SLOTS = {1: HEDGE, 2: HEDGE, 4: HEDGE, 8: ASHA, 16: ASHA}


@pytest.mark.parametrize(
    ("kind", "count", "configurations", "expected"),
    [
        ("tabular", 5000, 27, BY_SLOTS),
        ("tabular", 2000, 27, dict.fromkeys(BY_SLOTS, ASHA)),
        ("tabular", 5000, 3, {1: ASHA, 4: ASHA}),
        ("image", 5000, 27, {1: HEDGE, 8: HEDGE, 16: HEDGE}),
        *((kind, 5000, 81, {1: ASHA, 16: ASHA}) for kind in BASES),  # docs/study-2.md
        ("text", 2000, 27, {1: HYPERBAND, 8: HYPERBAND}),
        ("text", 5000, 26, {1: HYPERBAND, 8: HYPERBAND}),
        ("image", 2000, 81, {1: ASHA, 8: ASHA}),
    ],
)
def test_the_method_suits_data_size_and_slots(
    kind, count, configurations, expected, epochs, monkeypatch
):
    epochs(10.0, 18.0, 33.0)  # as batches of 64, 32 and 16 take
    data = rows(count, kind)
    found = {}
    for slots in expected:
        monkeypatch.setattr(recommended, "cpus", lambda slots=slots: slots)
        found[slots] = plan(data, sizes=[Size(configurations, 81, 1)])
    assert {slots: it.method for slots, it in found.items()} == expected
    for it in found.values():
        assert it.reason.startswith(f"{it.method}, by predicted times: ")
        warned = it.method == HEDGE and kind == "image"
        assert it.reason.endswith("it lost 0.3 and 1.9 points on images") == warned


def test_equally_fast_methods_give_way_to_the_one_that_loses_less(epochs):
    epochs(1e-6)
    found = plan(rows(5000))
    assert (found.method, found.size) == (HYPERBAND, SIZES[0])
    assert found.reason.endswith("almost as fast as the fastest, and lost less in published runs")


def test_a_plan_keeps_to_what_is_asked(epochs, monkeypatch):
    monkeypatch.setattr(recommended, "cpus", lambda: 2)
    epochs(10.0)
    data = rows(5000, "text")

    def asked(**protocol):
        base, changes = {"datasets": ["trec6"]}, {"protocol": {"text": protocol}}
        return recommended.recommended(data, base, changes, 1e9, SIZES)

    assert asked(configurations=27).method == HEDGE  # ASHA needs 81
    assert asked(epochs=500).size == Size(81, 500, 3)
    assert "class_weights" not in asked(metric="log_loss").keys["protocol"]["text"]
    few = {"learning_rate": {"choice": [0.1, 0.01, 0.001]}, "dropout": None}
    few |= {"batch_size": {"choice": [32]}, "hidden": {"choice": [8]}}
    (experiment,) = read_experiments([DEFAULTS], {"datasets": ["trec6"]})
    removed = dict.fromkeys(experiment.protocol_of("trec6").search_space)
    assert asked(search_space={**removed, **few}).size.configurations == 3


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
        (None, r"target: missing; columns that can be classes: soil, town, seen, species"),
        ("color", "target: there is no column 'color'"),
    ],
)
def test_column_that_cannot_be_the_target_is_refused_in_one_line(target, message):
    with pytest.raises(UserError, match=message) as caught:
        new_flowers(target)
    assert "\n" not in str(caught.value)


def test_largest_search_that_fits_is_taken(epochs, monkeypatch):
    monkeypatch.setattr(recommended, "cpus", lambda: 1)
    sizes = []
    for seconds in (1e-4, 0.1, 1.0, 5.0, 1e4):
        epochs(seconds)
        found = plan(rows(2000), hours=1.0)
        sizes.append(SIZES.index(found.size))
        assert found.seconds <= 3600 or seconds == 1e4
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (0, len(SIZES) - 1)


def test_a_search_longer_than_allowed_is_the_smallest_that_finds_a_good_model(epochs):
    epochs(60.0)
    summary = new_flowers(hours=0.01)
    said = r"9 configurations, 27 epochs.*: about .*, more than 36 s; there is no smaller"
    assert re.search(said, summary)
    assert yaml.safe_load(Path("flowers.yaml").read_text())["protocol"]["tabular"]["epochs"] == 27


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # By the usual calculator, Wilson's interval of 48 of 60 is 68.2 to 88.2 %.
        ([150, 75, 75], "15: if the accuracy is 80 %, its 95 % interval will be 68.2 to 88.2 %"),
        # Of 2 x 12 rows, 19 (79 %) are right: 59.5 to 90.8 %.
        ([240, 60], "12: if the balanced accuracy is 80 %, its 95 % interval will be 59.5 to"),
        ([270, 30], "6: the 95 % interval of the balanced accuracy will not be known"),
        ([300, 150, 150], None),
    ],
)
def test_few_test_rows_say_how_wide_the_interval_will_be(epochs, counts, expected):
    epochs(0.1)
    frame = pd.concat([mixed()] * (sum(counts) // ROWS))
    frame.assign(species=np.repeat([*"abc"][: len(counts)], counts)).to_csv(FLOWERS, index=False)
    summary, advice = new_flowers(), f"Few test rows, 'b' has {expected or ''}"
    assert (f"\n{advice}" in summary) is (expected is not None)
    assert (f"\n# {advice}" in Path("flowers.yaml").read_text()) is (expected is not None)


@pytest.mark.parametrize(("copies", "models"), [(2, {"rows": "train+validation"}), (3, None)])
def test_the_model_of_a_small_table_also_learns_from_validation_rows(epochs, copies, models):
    epochs(0.1)
    pd.concat([mixed()] * copies).to_csv(FLOWERS, index=False)  # 420 and 630 training rows
    new_flowers()
    assert yaml.safe_load(Path("flowers.yaml").read_text()).get("models") == models


def test_cost_of_a_search_is_that_of_its_slots(epochs, monkeypatch):
    epochs(10.0)
    found = {}
    for cores in (0.5, 1, 2, 64):
        monkeypatch.setattr(recommended, "cpus", lambda cores=cores: cores)
        found[cores] = plan(rows(2000, "text"), sizes=[Size(27, 81, 1)])
    assert [it.slots for it in found.values()] == [1, 1, 2, 27]
    # 1107 epochs on one core (Hyperband's brackets), and 81 on 27 at 80 % of the speed
    assert found[0.5].seconds == pytest.approx(30 + 2 * 1107 * 10.1)
    assert found[1].seconds == pytest.approx(30 + 1107 * 10.1)
    assert found[64].seconds == pytest.approx(30 + 81 * 10.1 / 0.8)
    assert found[2].seconds < 0.7 * found[1].seconds
    joules = pytest.approx(5.0 * found[1].seconds)
    assert [3.6e6 * found[cores].kwh for cores in (0.5, 1, 2)] == [joules] * 3


def test_probe_extrapolates_the_time_of_an_epoch(monkeypatch):
    data = rows(210)
    ticks = iter(range(1000))
    monkeypatch.setitem(probe.CLOCKS, "cpu", lambda: float(next(ticks)))
    monkeypatch.setattr(probe, "FIRST_ROWS", 20)
    (found,) = probe.probed(data, recommended.job_of(BASES["tabular"]))
    assert found == pytest.approx((210 / 20, len(data.validation) / 20))


@pytest.mark.parametrize(("cores", "compute"), [(1, None), (64, {"concurrent_trials": 64})])
def test_trials_use_the_cores_of_the_machine_and_a_quota_is_named(
    cores, compute, monkeypatch, epochs
):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(cores))
    monkeypatch.delenv("SLURM_CPUS_ON_NODE", raising=False)
    for user in (module, allocation):
        monkeypatch.setattr(user, "cpu_quota", lambda: 64)
    epochs(0.1)
    summary = new_flowers()
    assert "81 configurations, " in summary
    assert ("a CPU quota (cgroup) allows 64 CPUs\n" in summary) is (cores == 64)
    assert yaml.safe_load(Path("flowers.yaml").read_text()).get("compute") == compute


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


def test_hostile_names_of_columns_and_classes_add_no_keys(epochs):
    """The file equals that for harmless names, with the hostile ones in their place."""
    epochs(1e-3)
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
