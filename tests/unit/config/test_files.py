"""Configuration files: merging, parts, and messages of errors."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from automata.config import files as reading
from automata.config.files import combine, read_experiments
from automata.errors import UserError

CONFIG = Path(__file__).parents[3] / "config"
SECTIONS = st.recursive(
    st.integers() | st.lists(st.integers()),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "search_space"]), inner, max_size=3),
)
CONFIGS = st.dictionaries(st.sampled_from(["a", "b", "c"]), SECTIONS, max_size=3)


@pytest.fixture
def read(tmp_path):
    """Read files of the given contents over the shipped defaults."""

    def read(contents, files=None, command_line=None):
        for name, content in contents.items():
            (tmp_path / name).write_text(yaml.safe_dump(content))
        chosen = [tmp_path / name for name in files or contents]
        return read_experiments([CONFIG / "config.yaml", *chosen], command_line)

    return read


@given(CONFIGS)
def test_an_empty_file_changes_nothing(config):
    assert combine(config, {}) == config


@given(CONFIGS)
def test_an_empty_base_adds_nothing(config):
    assert combine({}, config) == config


@given(CONFIGS, CONFIGS)
def test_combining_twice_is_combining_once(base, change):
    once = combine(base, change)
    assert combine(once, change) == once


@given(CONFIGS, CONFIGS)
def test_combining_modifies_neither(base, change):
    before = yaml.safe_dump([base, change])
    combine(base, change)
    assert yaml.safe_dump([base, change]) == before


def test_sections_merge_and_lists_are_replaced():
    base = {"section": {"kept": 1, "list": [1, 2]}}
    assert combine(base, {"section": {"list": [3]}}) == {"section": {"kept": 1, "list": [3]}}


SPACE = {"model": "mlp", "search_space": {"a": {"choice": [1]}, "b": {"choice": [2]}}}


@pytest.mark.parametrize("model", [{}, {"model": "mlp"}])
def test_a_search_space_merges_by_hyperparameter(model):
    change = {**model, "search_space": {"a": {"uniform": [1, 2]}, "b": None}}
    assert combine(SPACE, change) == {"model": "mlp", "search_space": {"a": {"uniform": [1, 2]}}}


def test_a_search_space_of_another_model_is_replaced():
    change = {"model": {"factory": "a:b"}, "search_space": {"c": {"choice": [1]}}}
    assert combine(SPACE, change) == change


def test_a_hyperparameter_that_is_not_there_cannot_be_removed(read):
    space = {"protocol": {"tabular": {"search_space": {"hidden3": None}}}}
    with pytest.raises(UserError, match=r"my.yaml: protocol.tabular.search_space.hidden3: null"):
        read({"my.yaml": space})


def test_the_later_of_two_domains_is_blamed(read):
    def space(domain):
        return {"protocol": {"tabular": {"search_space": {"hidden1": domain}}}}

    files = {"first.yaml": space({"choice": [5, 5]}), "second.yaml": space({"uniform": [1, 2]})}
    with pytest.raises(UserError, match=r"second.yaml: .*search_space.hidden1: uniform draws no"):
        read(files)


def test_without_parts_there_is_one_experiment(read):
    (experiment,) = read({"my.yaml": {"seeds": [3]}})
    assert experiment.seeds == [3]


def test_each_part_is_an_experiment_over_the_defaults(read):
    parts = {"one.yaml": {"datasets": ["dna"]}, "two.yaml": {"datasets": ["sst5"], "seeds": [7]}}
    both = read({**parts, "all.yaml": {"parts": list(parts)}}, ["all.yaml"])
    assert [(e.datasets, e.seeds) for e in both] == [(["dna"], [0]), (["sst5"], [7])]


def test_layers_override_earlier_ones_with_parts_before_the_file_that_lists_them(read):
    keys = ("untuned_seeds", "selectors", "seeds", "searches", "fractions")
    first = {key: [1] for key in keys} | {"selectors": ["full"], "searches": ["random"]}
    contents = {
        "first.yaml": first | {"fractions": [1]},
        "one.yaml": {"datasets": ["dna"], **first, "selectors": ["rs2"]},
        "all.yaml": {"parts": ["one.yaml"], "seeds": [2]},
        "later.yaml": {"searches": ["tpe"]},
    }
    files = ["first.yaml", "all.yaml", "later.yaml"]
    (experiment,) = read(contents, files, {"fractions": [0.3]})
    assert [getattr(experiment, key) for key in keys] == [[1], ["rs2"], [2], ["tpe"], [0.3]]


def test_a_data_set_in_two_parts_is_refused(read):
    parts = {"one.yaml": {"datasets": ["dna"]}, "two.yaml": {"datasets": ["letter", "dna"]}}
    with pytest.raises(UserError, match=r"two.yaml: datasets: dna is also in .*one.yaml$"):
        read({**parts, "all.yaml": {"parts": list(parts)}}, ["all.yaml"])


PARTS = {
    "one.yaml": {"datasets": ["dna", "letter"], "seeds": [1]},
    "two.yaml": {"datasets": ["sst5"], "seeds": [2]},
    "all.yaml": {"parts": ["one.yaml", "two.yaml"]},
}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["letter"], [(["letter"], [1])]),
        (["sst5", "dna"], [(["dna"], [1]), (["sst5"], [2])]),
    ],
)
def test_datasets_after_the_parts_select_from_theirs(read, chosen, expected):
    found = read({**PARTS, "few.yaml": {"datasets": chosen}}, ["all.yaml", "few.yaml"])
    assert [(e.datasets, e.seeds) for e in found] == expected


def test_a_data_set_of_no_part_is_refused(read):
    few = {"few.yaml": {"datasets": ["trec6"]}}
    with pytest.raises(UserError, match=r"few.yaml: datasets: trec6 is in none of the parts: dna"):
        read({**PARTS, **few}, ["all.yaml", "few.yaml"])


@pytest.mark.parametrize("listed", [None, "dna", [["dna"]], {"dna": 1}])
def test_data_sets_beside_parts_that_are_no_list_are_refused(read, listed):
    with pytest.raises(UserError, match=r"few.yaml: datasets: .* is not valid; valid: a list of"):
        read({**PARTS, "few.yaml": {"datasets": listed}}, ["all.yaml", "few.yaml"])


def test_parts_of_a_part_are_its_experiments_as_it_changes_them(read):
    wrappers = {
        "first.yaml": {
            "parts": ["all.yaml"],
            "datasets": ["dna"],
            "seeds": [5],
            "fractions": [0.3],
        },
        "second.yaml": {"parts": ["all.yaml"], "datasets": ["sst5"]},
        "both.yaml": {"parts": ["first.yaml", "second.yaml"], "fractions": [0.1]},
    }
    found = read({**PARTS, **wrappers}, ["both.yaml"])
    assert [(e.datasets, e.seeds, e.fractions) for e in found] == [
        (["dna"], [5], [0.1]),
        (["sst5"], PARTS["two.yaml"]["seeds"], [0.1]),
    ]


@pytest.mark.parametrize("parts", ["one.yaml", [1]])
def test_parts_that_are_no_list_of_files_are_refused(read, parts):
    with pytest.raises(UserError, match=r"all.yaml: parts: .* is not valid; valid: a list of fil"):
        read({"all.yaml": {"parts": parts}})


def test_an_error_in_a_part_names_its_file(read):
    contents = {"one.yaml": {"seeds": [-1]}, "all.yaml": {"parts": ["one.yaml"]}}
    with pytest.raises(UserError, match=r"one.yaml: seeds.0: -1 is not valid; valid: integer >= 0"):
        read(contents, ["all.yaml"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a: [b\nc: [0]\n",
            "not YAML in UTF-8: .* at line 1, column 4 expected .* got ':' at line 2, column 2$",
        ),
        ("a:\n\tb: 1\n", "not YAML in UTF-8: .* at line 2, column 1$"),
        (
            "a: !!python/name:os.system\n",
            "could not determine a constructor .* at line 1, column 4$",
        ),
        ("- 1\n- 2\n", "a configuration is a section of keys"),
        ("", "a configuration is a section of keys"),
        ("seeds: [1]\nseeds: [2]\n", "duplicate key seeds at line 2, column 1$"),
    ],
)
def test_an_invalid_file_is_one_line(tmp_path, text, expected):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=expected) as error:
        read_experiments([CONFIG / "config.yaml", path])
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(path))


def test_a_file_that_is_not_utf8_is_one_line(tmp_path):
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"experiment: caf\xe9\n")
    with pytest.raises(UserError, match=r"latin.yaml: .*not YAML in UTF-8: .*0xe9"):
        reading.read(path)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"none.yaml: cannot be read: No such file or directory$"):
        reading.read(tmp_path / "none.yaml")


def test_a_list_on_the_command_line_is_refused():
    """Snakemake makes ["3"] of seeds=[3]."""
    with pytest.raises(
        UserError, match=r"--config: seeds\.0: .*; give lists and sections in a file: --configf"
    ):
        read_experiments([CONFIG / "config.yaml"], {"seeds": ["3"]})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1.5E2", 150.0),
        ("-2e1", -20.0),
        ("2024-01-01", "2024-01-01"),
        ("e3", "e3"),
    ],
)
def test_yaml_numbers_and_dates(tmp_path, text, value):
    path = tmp_path / "one.yaml"
    path.write_text(f"key: {text}\n")
    assert reading.read(path) == {"key": value}


def test_a_key_of_a_selector_is_the_name_of_the_selector(read):
    (experiment,) = read({"one.yaml": {"selector": {"gradmatch-adaptive": {"tolerance": 0.2}}}})
    assert experiment.selector.of("gradmatch-adaptive")["tolerance"] == 0.2
    expected = "one.yaml: selector.gradmatch_adaptive: unknown key; valid: .*gradmatch-adaptive"
    with pytest.raises(UserError, match=expected):
        read({"one.yaml": {"selector": {"gradmatch_adaptive": {}}}})


@pytest.mark.parametrize(
    ("carbon", "expected"),
    [
        ({"grams_per_kwh": None}, "grams_per_kwh: null is not valid; valid: number > 0"),
        ({"tdp_watts": float("inf")}, "tdp_watts: Infinity is not valid; valid: number > 0"),
        ({"source": ""}, 'source: "" is not valid; valid: a text that is not empty'),
    ],
)
def test_a_wrong_value_is_one_line(read, carbon, expected):
    with pytest.raises(UserError, match=f"^[^ ]*one.yaml: carbon.{expected}$"):
        read({"one.yaml": {"carbon": carbon}})


def test_a_missing_key_is_one_line_that_names_the_file_of_its_section(tmp_path):
    shipped = yaml.safe_load((CONFIG / "config.yaml").read_text())
    del shipped["carbon"]["grams_per_kwh"]
    path = tmp_path / "copy.yaml"
    path.write_text(yaml.safe_dump(shipped))
    with pytest.raises(UserError, match=r"^[^ ]*copy.yaml: carbon.grams_per_kwh: missing$"):
        read_experiments([path])
