"""Configuration files that are broken or mean harm: one line refuses each, by file and key."""

import os
from pathlib import Path

import pytest

from automata.errors import UserError
from automata.experiments.files import ConfigFiles
from automata.experiments.reading import check_arguments, read

CONFIG = Path(__file__).parents[3] / "config"
OWN = "own_datasets: {{{}: {{kind: tabular, path: a.csv, target: y}}}}"
LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n + 1}: &a{n + 1} [{','.join([f'*a{n}'] * 10)}]\n" for n in range(9)
)


@pytest.fixture
def refusal(tmp_path):
    """Give a function that returns how a file of this text is refused."""

    def read(text):
        file = tmp_path / "mine.yaml"
        file.write_text(text)
        with pytest.raises(UserError) as refused:
            ConfigFiles([CONFIG / "config.yaml", file], {}, CONFIG / "schema.json").experiments()
        return str(refused.value)

    return read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Names that would be paths, options or commands.
        (r'datasets: ["dna\n"]', r'datasets.0: "dna\n" is not valid; valid: a text that matches'),
        ('datasets: ["-x"]', 'datasets.0: "-x" is not valid; valid: a text that matches'),
        ('datasets: ["a b"]', 'datasets.0: "a b" is not valid; valid: a text that matches'),
        ('datasets: [".."]', 'datasets.0: ".." is not valid; valid: a text that matches'),
        (r'experiment: "x\n"', r'experiment: "x\n" is not valid; valid: a text that matches'),
        ("experiment: ../x", 'experiment: "../x" is not valid; valid: a text that matches'),
        ("experiment: /tmp/x", 'experiment: "/tmp/x" is not valid; valid: a text that matches'),
        ("experiment: -x", 'experiment: "-x" is not valid; valid: a text that matches'),
        ("experiment: $(id)", 'experiment: "$(id)" is not valid; valid: a text that matches'),
        (OWN.format('"a; id"'), "own_datasets.a; id: is no name; valid: a text that matches"),
        (OWN.format('"../a"'), "own_datasets.../a: is no name; valid: a text that matches"),
        (OWN.format('"-a"'), "own_datasets.-a: is no name; valid: a text that matches"),
        (OWN.format(r'"a\n"'), r'own_datasets."a\n": is no name; valid: a text that matches'),
        ("own_datasets: {../a: 5}", "own_datasets.../a: is no name; valid: a text that matches"),
        # The one key that runs a user's code names a function and nothing else.
        (
            "protocol: {tabular: {model: {factory: 'os:system(1)'}}}",
            'protocol.tabular.model.factory: "os:system(1)" is not valid; valid: a text',
        ),
        (
            "protocol: {tabular: {model: {factory: ../x:b}}}",
            'protocol.tabular.model.factory: "../x:b" is not valid; valid: a text that matches',
        ),
        (
            r'protocol: {tabular: {model: {factory: "a:b\n"}}}',
            r'protocol.tabular.model.factory: "a:b\n" is not valid; valid: a text that matches',
        ),
        # Tags that make more than values.
        ("datasets: !!python/object/apply:os.system [id]", "not YAML: could not determine a const"),
        ("datasets: !!python/name:os.system", "not YAML: could not determine a constructor"),
        ("seeds: !!set {1}", "not YAML: could not determine a constructor"),
        ("experiment: !!binary aGk=", "not YAML: could not determine a constructor"),
        ("experiment: !!timestamp 2001-01-01", "not YAML: could not determine a constructor"),
        # Sizes.
        (LAUGHS, "it has more than 100000 values"),
        ("a: &a [*a]", "a.0.0.0: it is nested deeper than 30 levels"),
        ("a: &a {b: *a}", "a.b.b.b: it is nested deeper than 30 levels"),
        ("a: " + "[" * 20_000, "not YAML: maximum recursion depth exceeded"),
        ("seeds: [" + "9" * 5_000 + "]", "not YAML: Exceeds the limit"),
        ("seeds: [0x" + "f" * 5_000 + "]", "seeds.0: the integer has more than 63 bits"),
        ("fractions: [.nan]", "fractions.0: nan is not finite"),
        # Characters that no path can have.
        (r'data: {cache: "a\0b"}', r'data.cache: the text "a\u0000b" has a character that no path'),
        (r'parts: ["a\0.yaml"]', "parts.0: the text"),
        (r'experiment: "\ud800"', r'experiment: the text "\ud800" has a character that no path'),
        # Files that are no configuration.
        ("parts: [.]", "cannot be read: Is a directory"),
        ("parts: [../../../../../../../../etc/passwd]", "etc/passwd: "),
        ("a: 1\n---\nb: 2", "not YAML: expected a single document in the stream of line 1, but"),
    ],
)
def test_attack_is_refused_in_one_line(refusal, text, expected):
    said = refusal(text)
    assert expected in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("content", "place", "expected"),
    [
        (b"a: 1\nexperiment: caf\xe9\n", "line 2, column 16", "not UTF-8: byte 0xe9; save it as"),
        (b"\xff\xfea\x00", "line 1, column 1", "not UTF-8: byte 0xff"),
        (b"seeds:\n  - 1\n\t- 2\n", "line 3, column 1", "a tab; indent with spaces"),
        (b"datasets: [dna\nseeds: [0]\n", "line 2, column 6", "flow sequence of line 1, expected"),
        (b"seeds: [0]\nfractions: [1]\nseeds: [1]\n", "line 3, column 1", "the key seeds is there"),
        (b"a: b: c\n", "line 1, column 5", "mapping values are not allowed"),
        (b"a: 1\nb: x\x00y\n", "line 2, column 5", "special characters are not allowed"),
        (b"a: 1\nb: !!python/name:os.system\n", "line 2, column 4", "could not determine a constr"),
    ],
)
def test_refusal_names_the_place(tmp_path, content, place, expected):
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(UserError) as refused:
        read(file)
    said = str(refused.value)
    assert said.startswith(f"{file}: {place}: not ")
    assert expected in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "it has none"), ("# nothing\n", "it has none"), ("- a\n", 'this is ["a"]')],
)
def test_file_without_keys_is_named(tmp_path, text, found):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as refused:
        read(file)
    assert str(refused.value) == f"{file}: a configuration is a section of keys; {found}"


def test_pipe_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(UserError, match="cannot be read: not a regular file"):
        read(pipe)


@pytest.mark.parametrize("before", [["--configfile", "good.yaml"], ["-n", "--configfile"]])
def test_files_of_the_command_line_are_looked_at(tmp_path, monkeypatch, before):
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text("seeds: [0]\n")
    Path("bad.yaml").write_text("seeds: [0\n")
    check_arguments(["--cores", "1", "--configfile", "good.yaml", "--config", "seeds=[3]"])
    with pytest.raises(SystemExit, match=r"bad\.yaml: line 2, column 1: not YAML"):
        check_arguments([*before, "bad.yaml", "--cores", "1"])


def test_list_on_the_command_line_is_sent_to_a_file():
    """Snakemake makes ["3"] of seeds=[3]."""
    files = ConfigFiles([CONFIG / "config.yaml"], {"seeds": ["3"]}, CONFIG / "schema.json")
    with pytest.raises(UserError, match=r"--config: seeds\.0: .*; lists and .* file: --configf"):
        files.experiments()


def test_refusal_names_the_file(refusal, tmp_path):
    assert refusal("a: &a [*a]").startswith(f"{tmp_path}/mine.yaml: ")


def test_aliases_that_repeat_little_are_read(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("seeds: &some [3, 4]\nuntuned_seeds: *some\n")
    files = ConfigFiles([CONFIG / "config.yaml", file], {}, CONFIG / "schema.json")
    (experiment,) = files.experiments()
    assert experiment["untuned_seeds"] == [3, 4]
