"""Published learning curves: rows that additions do not change, and the tables made of them."""

import math
from pathlib import Path

import pandas as pd
import pytest

from automata.errors import UserError
from automata.records.record import write_record
from studies.curves.curves import publish_curves, tabulated
from studies.curves.jobs import Curves, published_trainings, training_of
from studies.curves.plan import Plan, Simulation
from studies.curves.tables import joined, simulated

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "results/reference"
STUDY = """
experiment:
  datasets: [dna]
  selectors: [full, rs2]
  schedulers: [hyperband]
  fractions: [0.1]
  protocol: {tabular: {configurations: 4, epochs: 2}}
pool: 4
seeds: [3]
part: 2
"""


@pytest.fixture
def jobs(tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    return list(Plan(file).jobs.values())


def record(job, accuracy=0.5, diverges=False):
    """Return a record of which each epoch takes 10 samples and 2 s of CPU."""
    epochs = job.epochs[:-1] if diverges else job.epochs
    points = [{"samples": 10 * it, "cpu_seconds": 2 * it} for it in epochs]
    points += [{"samples": 15, "cpu_seconds": 3}] * diverges
    curves = []
    for index in job.configurations:
        score = {"accuracy": accuracy + index / 100, "loss": 1.5, "finished_at": 0}
        progress = {
            "epochs": epochs[-1],
            "samples": 10 * epochs[-1],
            "training_loss": [1.0] * epochs[-1],
            "evaluations": [{"epoch": it, **score} for it in epochs],
        }
        curve = {"index": index, "configuration": {"x": index}, "test_accuracy": 0.75}
        curves.append(curve | {"points": points, "progress": progress})
    return Curves(job=job, data_sha256="d", curves=curves, provenance={})


def test_rows_after_a_divergence_have_the_worst_score(jobs):
    rows = tabulated([record(jobs[0], diverges=True)]).set_index(["configuration", "epoch"])
    numbers = rows[["accuracy", "loss", "samples", "cpu_seconds", "test_accuracy"]]
    assert numbers.loc[(1, 1)].tolist()[:4] == [0.51, 1.5, 10, 2]
    assert numbers.loc[(1, 2)].tolist() == [0, math.inf, 15, 3, 0.75]


def test_published_rows_stay_and_win_over_records_of_the_same_training(jobs, tmp_path):
    published, files = tmp_path / "published", [tmp_path / "0.json", tmp_path / "1.json"]
    published.mkdir()
    publish_curves([record(jobs[0], 0.5)], published)
    before = {path.name: path.read_bytes() for path in published.iterdir()}
    publish_curves([record(jobs[0], 0.9)], published)
    assert {path.name: path.read_bytes() for path in published.iterdir()} == before
    later = [record(job, 0.9) for job in jobs[:2]]
    for one, file in zip(later, files, strict=True):
        write_record(one, file)
    trainings = [training_of(jobs[0])]

    def accuracies(files):
        return (
            joined(files, trainings, published).groupby("configuration")["accuracy"].max().tolist()
        )

    assert accuracies(files) == [0.5, 0.51, 0.92, 0.93]
    publish_curves(later, published)
    assert accuracies([]) == [0.5, 0.51, 0.92, 0.93]


def test_a_damaged_file_of_origins_is_refused_in_one_line(tmp_path):
    (tmp_path / "dna.json.gz").write_text("{")
    with pytest.raises(UserError, match=r"dna\.json\.gz: not the origins of published curves"):
        published_trainings(tmp_path)


@pytest.mark.slow
def test_published_curves_make_the_published_tables_again(monkeypatch):
    monkeypatch.chdir(ROOT)
    name, every = "cifar10-small", Plan(ROOT / "studies/curves/simulated.yaml").simulation
    trainings = [it for it in every.trainings if it.startswith(name)]
    own = Simulation(trainings=trainings, searches={name: every.searches[name]}, real=[])
    tables = dict(simulated(joined([], trainings), own))
    for table in ("simulated", "noise", "ranks"):
        every = pd.read_csv(REFERENCE / f"simulated/tables/{table}.csv")
        expected = every[every["dataset"] == "cifar10-small"].reset_index(drop=True)
        pd.testing.assert_frame_equal(tables[table], expected, check_dtype=False)
