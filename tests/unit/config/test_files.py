"""Configuration files: YAML, merging, parts, and the file that an error is blamed on."""

import pytest
import yaml

from automata.config.files import DEFAULTS, SNAKEFILE, combine, command, read, read_experiments
from automata.errors import UserError

ONE = {"uniform": [1, 2]}
MLP, OTHER = {"model": "mlp"}, {"model": "lstm", "search_space": {"c": {"choice": [1]}}}
SPACE = {**MLP, "search_space": {"a": {"choice": [1]}, "b": {"choice": [2]}}}
DNA = {"datasets": ["dna"]}
PARTS = {
    "one.yaml": {"datasets": ["dna", "letter"], "seeds": [1]},
    "two.yaml": {"datasets": ["sst5"], "seeds": [2]},
    "all.yaml": {"parts": ["one.yaml", "two.yaml"]},
}


@pytest.fixture
def experiments(tmp_path):
    """Write files of the given contents, and read some of them over the shipped defaults."""

    def experiments(contents, files=None, command_line=None):
        for name, content in contents.items():
            (tmp_path / name).write_text(yaml.safe_dump(content))
        chosen = [tmp_path / name for name in files or contents]
        return read_experiments([DEFAULTS, *chosen], command_line)

    return experiments


@pytest.mark.parametrize(
    ("base", "change", "expected"),
    [
        ({"a": {"b": 1, "c": [1, 2]}}, {"a": {"c": [3]}}, {"a": {"b": 1, "c": [3]}}),
        ({"rungs": {0.1: 2}}, {"rungs": {0.5: 1}}, {"rungs": {0.5: 1}}),
        (SPACE, {"search_space": {"a": ONE, "b": None}}, {**MLP, "search_space": {"a": ONE}}),
        (SPACE, OTHER, OTHER),
        (
            {**MLP, "for_search": {"tpe": {"configurations": 9, "search_space": {"a": ONE}}}},
            {"model": "lstm"},
            {"model": "lstm", "for_search": {"tpe": {"configurations": 9, "search_space": {}}}},
        ),
    ],
)
def test_sections_merge_unless_halves_would_not_fit(base, change, expected):
    before = yaml.safe_dump([base, change])
    assert combine(base, change) == expected
    assert yaml.safe_dump([base, change]) == before


def test_layers_override_earlier_ones_with_parts_before_the_file_that_lists_them(experiments):
    keys = ("untuned_seeds", "selectors", "seeds", "searches", "fractions")
    first = {key: [1] for key in keys} | {"selectors": ["full"], "searches": ["random"]}
    contents = {
        "first.yaml": first | {"fractions": [1]},
        "one.yaml": {"datasets": ["dna"], **first, "selectors": ["rs2"]},
        "all.yaml": {"parts": ["one.yaml"], "seeds": [2]},
        "later.yaml": {"searches": ["tpe"]},
    }
    files = ["first.yaml", "all.yaml", "later.yaml"]
    (experiment,) = experiments(contents, files, {"fractions": [0.3]})
    assert [getattr(experiment, key) for key in keys] == [[1], ["rs2"], [2], ["tpe"], [0.3]]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ("all", {"dna": 1, "letter": 1, "sst5": 2}),
        ("all few", {"letter": 1}),
        ("both", {"dna": 5, "sst5": 2}),
    ],
)
def test_parts_are_experiments_whose_data_sets_later_files_select(experiments, files, expected):
    contents = {
        **PARTS,
        "few.yaml": {"datasets": ["letter"]},
        "first.yaml": {"parts": ["all.yaml"], **DNA, "seeds": [5], "fractions": [0.3]},
        "second.yaml": {"parts": ["all.yaml"], "datasets": ["sst5"]},
        "both.yaml": {"parts": ["first.yaml", "second.yaml"], "fractions": [0.05, 0.1]},
    }
    found = experiments(contents, [f"{name}.yaml" for name in files.split()])
    assert {name: part.seeds[0] for part in found for name in part.datasets} == expected
    assert all(part.fractions == [0.05, 0.1] for part in found)


TABULAR = "protocol.tabular.search_space"
LIST = "is not valid; valid: a list of"


def space(**domains):
    return {"protocol": {"tabular": {"search_space": domains}}}


@pytest.mark.parametrize(
    ("line", "contents"),
    [
        (
            f"b.yaml: {TABULAR}.hidden1: uniform draws no integer",
            {"a.yaml": space(hidden1={"choice": [5]}), "b.yaml": space(hidden1=ONE)},
        ),
        (f"a.yaml: {TABULAR}.hidden3: null is not valid", {"a.yaml": space(hidden3=None)}),
        ("one.yaml: seeds.0: -1 is not valid", {**PARTS, "one.yaml": {"seeds": [-1]}}),
        ("two.yaml: datasets: dna is also in .*one.yaml$", {**PARTS, "two.yaml": DNA}),
        (
            "few.yaml: datasets: trec6 is in none of the parts: dna, letter, sst5$",
            {**PARTS, "few.yaml": {"datasets": ["trec6"]}},
        ),
        (f"few.yaml: datasets: null {LIST} dna, ", {**PARTS, "few.yaml": {"datasets": None}}),
        (rf"all.yaml: parts: \[1\] {LIST} files$", {"all.yaml": {"parts": [1]}}),
        (rf"few.yaml: datasets: \[\] {LIST} dna, ", {**PARTS, "few.yaml": {"datasets": []}}),
        (
            "two.yaml: parts: all.yaml is a part of itself",
            {**PARTS, "two.yaml": {"parts": ["all.yaml"]}},
        ),
        (
            "a.yaml: selector.gradmatch_adaptive: unknown key; valid: .*gradmatch-adaptive",
            {"a.yaml": {"selector": {"gradmatch_adaptive": {}}}},
        ),
        ("a.yaml: seeds.0: ", {"a.yaml": {"seeds": [-1]}, "b.yaml": {"fractions": [0.1]}}),
    ],
)
def test_an_error_names_the_last_file_that_sets_the_key(experiments, line, contents):
    files = [name for name in contents if name not in ("one.yaml", "two.yaml")] or None
    with pytest.raises(UserError, match=rf"^[^ ]*{line}"):
        experiments(contents, files)


def test_a_missing_key_names_the_file_of_its_section(tmp_path):
    shipped = yaml.safe_load(DEFAULTS.read_text())
    del shipped["carbon"]["grams_per_kwh"]
    (tmp_path / "copy.yaml").write_text(yaml.safe_dump(shipped))
    with pytest.raises(UserError, match=r"^[^ ]*copy.yaml: carbon.grams_per_kwh: missing$"):
        read_experiments([tmp_path / "copy.yaml"])


def test_the_command_names_the_workflow_unless_snakemake_finds_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow/Snakefile").touch()  # of another project
    named = f"snakemake --cores all --snakefile {SNAKEFILE} --configfile t.yaml"
    assert command(["t.yaml"]) == named
    monkeypatch.chdir(SNAKEFILE.parents[1])
    assert command(["t.yaml"]) == "snakemake --cores all --configfile t.yaml"


def test_a_list_on_the_command_line_is_refused():
    """Snakemake makes ["3"] of seeds=[3]."""
    remedy = r"--config: seeds\.0: .*; give lists and sections in a file: --configfile$"
    with pytest.raises(UserError, match=remedy):
        read_experiments([DEFAULTS], {"seeds": ["3"]})
    with pytest.raises(UserError, match=r"--config: seeds: .*none twice: integer >= 0$"):
        read_experiments([DEFAULTS], {"seeds": "3"})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"a: [b\nc: [0]\n",
            "not YAML in UTF-8 with plain values: .* at line 1, column 4 .* line 2, column 2$",
        ),
        (
            b"a: 1\na: 2\n",
            "not YAML in UTF-8 with plain values: duplicate key a at line 2, column 1$",
        ),
        (b"experiment: caf\xe9\n", "not YAML in UTF-8 with plain values: .*0xe9"),
        (b"a: !!python/name:os.system\n", ".*could not determine a constructor .* column 4$"),
        (b"a: 0x" + b"F" * 5000, "not YAML in UTF-8 with plain values: Exceeds the limit"),
        (b"a: !!binary YQ==\n", "not YAML in UTF-8 with plain values: Object of type bytes"),
        (b"", "a configuration is a section of keys$"),
        (None, "cannot be read: No such file or directory$"),
    ],
)
def test_a_file_without_a_section_of_keys_is_refused_in_one_line(tmp_path, content, expected):
    path = tmp_path / "broken.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=rf"^{path}: {expected}") as error:
        read(path)
    assert "\n" not in str(error.value)


def test_yaml_sections_merge_by_anchors(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text("a: {inner: &b {x: 1}, outer: &a {<<: *b, x: 2, y: 2}}\nb: {<<: *a, y: 3}\n")
    assert read(path)["b"] == {"x": 2, "y": 3}


def test_yaml_numbers_have_exponents_and_dates_are_texts(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text("[1e-3, 1.5E2, -2e1, .5e+1, 2024-01-01, e3]".join(("key: ", "\n")))
    assert read(path) == {"key": [0.001, 150.0, -20.0, 5.0, "2024-01-01", "e3"]}
