"""Good inputs of each kind, of which the tests make bad ones."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from automata.config.data import Preparation
from automata.config.files import read_experiments
from automata.config.job import Job
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.experiment.grid import Grid
from automata.records.archive import pack
from automata.records.record import write_record
from automata.tuning import job as job_module
from automata.tuning.job import keep_model, run
from automata.tuning.live import LivePhase
from support.searching import make_job, train_here

CONFIG = Path(__file__).parents[2] / "config"
RUN = Path("mine/random-none-0123abcd/full-1/seed-0")
MINE = {"kind": "tabular", "path": "mine.csv", "target": "y"}


NAMES = {"dataset": "mine", "scheduler": "none", "selector": "full"}
CONTENT = make_job(run=NAMES, configurations=3, epochs=4).model_dump()
CONTENT["settings"]["data"]["own"] = MINE
JOB = Job.model_validate(CONTENT)


def prepared(own):
    return prepare("mine", Preparation.model_validate({"own": own}), Path())


def configured():
    """Return the runs of `own.yaml`, on top of the smoke configuration."""
    parts = read_experiments([CONFIG / "config.yaml", CONFIG / "smoke.yaml", Path("own.yaml")])
    return list(Grid(parts, ["."]).records)


@pytest.fixture(scope="session")
def good(tmp_path_factory):
    """A folder with a good input of each kind; the job in `work` was interrupted."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(job_module, "train_in_ray", train_here)
        rows = "".join(f"{n % 7},{'sand' if n % 3 else 'clay'},{n % 2}\n" for n in range(40))
        Path("mine.csv").write_text(f"size,soil,y\n{rows}")
        noise = np.random.default_rng(0).integers(0, 256, (10, 8, 8, 3), np.uint8)
        for number, pixels in enumerate(noise):
            image = Path(f"pets/{('cat', 'dog')[number % 2]}/{number}.png")
            image.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(image)
        config = {"datasets": ["mine"], "own_datasets": {"mine": MINE}, "seeds": [0, 1]}
        Path("own.yaml").write_text(yaml.safe_dump({**config, "carbon": {"pue": 1.2}}))
        dataset, data = prepared(MINE), Path("mine.safetensors")
        write_dataset(dataset, data)
        record, model = run(JOB, data, Path("finished"))
        shutil.rmtree("finished")
        RUN.mkdir(parents=True)
        write_record(record, RUN / "record.json")
        keep_model(RUN / "model.safetensors", record, dataset, dataset.encoding, model)
        pack([RUN / "record.json"], Path("records.tar.xz"))
        patch.setattr(LivePhase, "report", report_two)
        with pytest.raises(KeyboardInterrupt):
            run(JOB, data, Path("work"))
    return folder


report = LivePhase.report


def report_two(live, index, progress, saved):
    """Let a search end before its third result."""
    if len(live.log.results) == 2:
        raise KeyboardInterrupt
    report(live, index, progress, saved)


@pytest.fixture
def folder(good, tmp_path, monkeypatch):
    """A copy of the good inputs, where the test works; searches need no Ray."""
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job_module, "train_in_ray", train_here)
    return tmp_path
