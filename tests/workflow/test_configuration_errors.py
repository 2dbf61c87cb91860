"""A configuration that is wrong ends the call with one line, before any job."""

import shutil
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "config/smoke.yaml"
TABLE = {"kind": "tabular", "path": "my.csv", "target": "y"}


def space(**changes):
    """Return a configuration with the search space of the default one, changed."""
    default = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    domains = {**default["protocol"]["tabular"]["search_space"], **changes}
    domains = {name: domain for name, domain in domains.items() if domain is not None}
    return {"protocol": {"tabular": {"search_space": domains}}}


def line(workflow, config):
    """Return what a dry run with `config` ends with."""
    workflow.config = config
    with pytest.raises(SystemExit) as end:
        workflow.plan()
    return end.value.code


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {"datsets": ["dna"]},
            "own.yaml: datsets: unknown key; valid: parts, experiment, datasets, searches",
        ),
        (
            {"protocol": {"tabular": {"epoch": 3}}},
            "own.yaml: protocol.tabular.epoch: unknown key; valid: model, configurations, epochs",
        ),
        (
            {"datasets": ["mnist"]},
            'own.yaml: datasets.0: "mnist" is not valid; valid: dna, satimage, letter, connect4',
        ),
        (
            {"datasets": ["../dna"]},
            'own.yaml: datasets.0: "../dna" is not valid; valid: a text that matches',
        ),
        (
            {"own_datasets": {"my": {"kind": "tabular", "path": "my.csv"}}},
            "own.yaml: own_datasets.my.target: missing",
        ),
        (
            {"own_datasets": {"my": {"kind": "table", "path": "my.csv"}}},
            'own.yaml: own_datasets.my.kind: "table" is not valid; valid: tabular, text, image',
        ),
        (
            {"own_datasets": {"my": {"path": "my.csv"}}},
            "own.yaml: own_datasets.my.kind: missing",
        ),
        (
            {"own_datasets": {"my": {"kind": "image", "path": "my.npz", "target": "label"}}},
            "own.yaml: own_datasets.my.target: unknown key; valid: kind, path, validation, test",
        ),
        (
            {"own_datasets": {"my": {**TABLE, "separator": ";;"}}},
            'own.yaml: own_datasets.my.separator: ";;" is not valid; valid: a text that matches',
        ),
        (
            {"own_datasets": {"my": {**TABLE, "decimal": ";"}}},
            'own.yaml: own_datasets.my.decimal: ";" is not valid; valid: a text that matches ^[.,]',
        ),
        (
            {"own_datasets": {"my": {**TABLE, "rare_below": 1}}},
            "own.yaml: own_datasets.my.rare_below: 1 is not valid; valid: integer >= 2",
        ),
        (
            {"own_datasets": {"my": {**TABLE, "drop": "id"}}},
            'own.yaml: own_datasets.my.drop: "id" is not valid; valid: a list',
        ),
        (
            {"own_datasets": {"dna": {"kind": "image", "path": "my.npz"}}},
            "own.yaml: own_datasets.dna: is the name of a data set that the project knows",
        ),
        (
            {"protocol": {"tabular": {"model": "lstm"}}},
            "own.yaml: protocol.tabular.model: lstm is for text data; valid: mlp",
        ),
        (
            {"protocol": {"tabular": {"model": "mpl"}}},
            'own.yaml: protocol.tabular.model: "mpl" is not valid; valid: mlp, lstm',
        ),
        (
            {"protocol": {"tabular": {"model": {"width": 3}}}},
            "own.yaml: protocol.tabular.model.factory: missing",
        ),
        (
            {"protocol": {"tabular": {"model": {"factory": "my_nets.build"}}}},
            'own.yaml: protocol.tabular.model.factory: "my_nets.build" is not valid; valid: a text',
        ),
        (
            space(hidden2=None),
            "own.yaml: protocol.tabular.search_space.hidden2: missing; model mlp needs it",
        ),
        (
            space(hidden3={"choice": [1]}),
            "own.yaml: protocol.tabular.search_space.hidden3: unknown to model mlp; valid:",
        ),
        (
            space(learning_rate={"unifrom": [1, 2]}),
            "search_space.learning_rate.unifrom: unknown key; valid: uniform, loguniform",
        ),
        (
            space(optimizer={"choice": ["sgd", "adm"]}),
            'search_space.optimizer.choice.1: "adm" is not valid; valid: adam, sgd',
        ),
        (
            space(batch_size={"uniform": [16, 64]}),
            "search_space.batch_size: uniform draws no integer > 0; valid: choice, randint",
        ),
        (
            space(nesterov={"choice": [True, False]}),
            "own.yaml: protocol.tabular.nesterov: needs a momentum > 0",
        ),
        (
            {"protocol": {"tabular": {"augmentation": {"flip": True}}}},
            "own.yaml: protocol.tabular.augmentation: is for images",
        ),
        (
            {"job": {"partition": "gpu; rm -r ."}},
            'own.yaml: job.partition: "gpu; rm -r ." is not valid; valid: a text that matches',
        ),
        (
            {"job": {"minutes": "1h"}},
            'own.yaml: job.minutes: "1h" is not valid; valid: integer > 0',
        ),
        ({"job": {"gpu_type": "a100"}}, "own.yaml: job.gpu_type: needs job.gpus to be 1 or more"),
        (
            {"parts": ["no-such-file.yaml"]},
            "no-such-file.yaml: cannot be read: No such file or directory",
        ),
        (
            {"selectors": ["full", "grad"]},
            'own.yaml: selectors.1: "grad" is not valid; valid: full, random',
        ),
        ({"schedulers": ["sha"]}, 'own.yaml: schedulers.0: "sha" is not valid; valid: hyperband'),
        (
            {"fractions": [0.1, 1.5]},
            "own.yaml: fractions.1: 1.5 is not valid; valid: number > 0 and <= 1",
        ),
        (
            {"ray": {"address": "head:6379; reboot"}},
            'own.yaml: ray.address: "head:6379; reboot" is not valid; valid: a text that matches',
        ),
        ({"ray": {"address": "ray://head:10001"}}, "own.yaml: ray.address: "),
        ({"fractions": [0]}, "own.yaml: fractions.0: 0 is not valid; valid: number > 0 and <= 1"),
        (
            {"protocol": {"tabular": {"epochs": 0}}},
            "own.yaml: protocol.tabular.epochs: 0 is not valid; valid: integer > 0",
        ),
        (
            {"seeds": []},
            "own.yaml: seeds: [] is not valid; valid: a list with at least one value, none twice",
        ),
        (
            {"seeds": [1, 1]},
            "own.yaml: seeds: [1, 1] is not valid; valid: a list with at least one value, none",
        ),
        (
            {"protocol": {"tabular": {"epochs": "many"}}},
            'own.yaml: protocol.tabular.epochs: "many" is not valid; valid: integer > 0',
        ),
        (
            space(learning_rate={"uniform": [1, 0.1]}),
            "own.yaml: protocol.tabular.search_space.learning_rate: uniform: 1 is not below 0.1",
        ),
        (
            space(learning_rate={"uniform": [0.1]}),
            "learning_rate.uniform: [0.1] is not valid; valid: a list of 2 values",
        ),
        (
            {"datasets": "dna"},
            'own.yaml: datasets: "dna" is not valid; valid: a list with at least one value',
        ),
    ],
)
def test_error_names_file_key_value_and_valid_values(workflow, config, expected):
    assert expected in line(workflow, config)


@pytest.mark.parametrize("config", [{"datsets": []}, {"seeds": [1, 1]}, {"compute": None}])
def test_error_is_one_line(workflow, config):
    assert "\n" not in line(workflow, config)


def test_error_in_the_shipped_file_names_it(workflow, tmp_path, monkeypatch):
    copy = tmp_path / "project"
    for part in ("workflow", "rules", "config", "src"):
        shutil.copytree(ROOT / part, copy / part)
    shipped = copy / "config/config.yaml"
    shipped.write_text(shipped.read_text().replace("epochs: 40", "epochs: 0"))
    workflow.snakefile, workflow.configfiles = copy / "workflow/Snakefile", []
    expected = "config/config.yaml: protocol.tabular.epochs: 0 is not valid"
    assert line(workflow, {}).endswith(f"project/{expected}; valid: integer > 0")


def test_missing_intensity_ends_the_call(workflow, tmp_path):
    shipped = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    del shipped["carbon"]["grams_per_kwh"]
    copy = tmp_path / "project"
    for part in ("workflow", "rules", "config", "src"):
        shutil.copytree(ROOT / part, copy / part)
    (copy / "config/config.yaml").write_text(yaml.safe_dump(shipped))
    workflow.snakefile = copy / "workflow/Snakefile"
    end = line(workflow, {})
    assert end.endswith("project/config/config.yaml: carbon.grams_per_kwh: missing")
    assert "\n" not in end


def test_parts_must_agree_in_carbon(workflow, tmp_path):
    (tmp_path / "one.yaml").write_text("datasets: [dna]\n")
    (tmp_path / "two.yaml").write_text("datasets: [letter]\ncarbon: {grams_per_kwh: 432}\n")
    assert line(workflow, {"parts": ["one.yaml", "two.yaml"]}) == (
        "carbon: must be the same in all parts"
    )


def test_parts_must_agree_in_where_trials_run(workflow, tmp_path):
    (tmp_path / "one.yaml").write_text("datasets: [dna]\n")
    (tmp_path / "two.yaml").write_text("datasets: [letter]\nray: {address: auto}\n")
    assert line(workflow, {"parts": ["one.yaml", "two.yaml"]}) == (
        "ray.address: must be the same in all parts"
    )


def test_error_names_the_file_that_sets_the_key(workflow, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("fractions: [2]\n")
    workflow.configfiles = [SMOKE, broken]
    assert line(workflow, {"seeds": [0]}).split(":")[0].endswith("broken.yaml")
