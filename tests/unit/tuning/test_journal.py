"""The journal of a search: what is whole is read, what is torn is not believed."""

from types import SimpleNamespace

import hypothesis.strategies as st
import pytest
from hypothesis import given
from ray.tune.experiment import Trial

from automata.config import Job
from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.training.progress import Evaluation, Progress
from automata.tuning.history import Deliveries, forget, recall
from automata.tuning.journal import Begun, Closed, Journal, Opened, Reported
from automata.tuning.ledger import Ledger
from automata.tuning.work import WorkFolder
from outliving import worker

JOB = Job.model_validate(
    {
        "run": {
            "dataset": "dna",
            "search": "tpe",
            "scheduler": "asha",
            "selector": "craig",
            "fraction": 0.1,
            "seed": 0,
        },
        "settings": {
            "protocol": {
                "model": "mlp",
                "configurations": 3,
                "epochs": 4,
                "reselect_every": 2,
                "search_space": {"learning_rate": {"uniform": [0.001, 0.01]}},
            }
        },
    }
)
BEGUN = Begun(job=JOB, data_sha256="0" * 64, place={"device": "cpu", "packages": {"torch": "2"}})


def reported(
    index: int, epoch: int, loss: float = 0.1 + 0.2, account: Measurement | None = None
) -> Reported:
    evaluations = [Evaluation(epoch=epoch, accuracy=0.5, loss=loss, finished_at=1.25)]
    progress = Progress(epochs=epoch, evaluations=evaluations)
    return Reported(
        index=index,
        configuration={"learning_rate": 1e-3},
        progress=progress,
        node="10.0.0.1",
        account=account,
    )


def measured(wall: float, start: float = 0.0) -> Measurement:
    return Measurement(
        started_at=start,
        wall_seconds=wall,
        cpu_seconds=wall,
        host_busy_cpu_seconds=wall,
        exclusive=True,
        channels=[],
        notes=[],
    )


ENTRIES = [
    BEGUN,
    Opened(host="here", setup_seconds=3.0),
    reported(0, 1, account=measured(1.0)),
    reported(1, 1, float("nan"), measured(2.0)),
    Opened(host="there", setup_seconds=4.0),
    reported(0, 4),
    Closed(account=measured(5.0, start=10.0)),
]


@pytest.fixture
def work(tmp_path):
    return WorkFolder(tmp_path)


@pytest.fixture
def journal(work):
    journal = Journal(work.journal)
    journal.write(ENTRIES[:1])
    for entry in ENTRIES[1:]:
        journal.append(entry)
    return journal


@pytest.fixture
def path(work):
    return work.journal


def texts(entries):
    """Entries in JSON: a loss that is not a number is not equal to itself."""
    return [entry.model_dump_json() for entry in entries]


def test_entries_come_back_as_they_were(journal):
    assert texts(journal.read()) == texts(ENTRIES)


@given(data=st.data())
def test_of_a_torn_file_the_whole_lines_are_read(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("torn") / "journal.jsonl"
    Journal(path).write(ENTRIES)
    content = path.read_bytes()
    length = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:length])
    whole = content[:length].count(b"\n")

    assert texts(Journal(path).read()) == texts(ENTRIES[:whole])
    assert path.read_bytes() == b"".join(content.splitlines(keepends=True)[:whole])


@given(data=st.data())
def test_nothing_from_a_damaged_byte_on_is_believed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "journal.jsonl"
    Journal(path).write(ENTRIES)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)

    before = bytes(content[:place]).count(b"\n")
    found = texts(Journal(path).read())
    assert found == texts(ENTRIES[:before])


def test_journal_goes_on_after_a_torn_line(journal, path):
    path.write_bytes(path.read_bytes()[:-5])
    again = Journal(path)
    again.read()
    again.append(reported(2, 1))

    assert texts(again.read()) == texts([*ENTRIES[:-1], reported(2, 1)])


def test_results_are_recalled_in_their_order_with_their_segments(journal, work):
    history = recall(work, BEGUN)

    assert [result.index for result in history.reported] == [0, 1, 0]
    assert [(s.host, s.setup_seconds, s.measurement.wall_seconds) for s in history.segments] == [
        ("here", 3.0, 2.0),  # the last account of each
        ("there", 4.0, 5.0),
    ]


@pytest.mark.parametrize(
    "other",
    [
        BEGUN.model_copy(update={"data_sha256": "1" * 64}),
        BEGUN.model_copy(update={"place": {"device": "cuda", "packages": {"torch": "2"}}}),
        BEGUN.model_copy(
            update={"job": JOB.model_copy(update={"run": JOB.run.model_copy(update={"seed": 1})})}
        ),
    ],
    ids=["data", "place", "job"],
)
def test_journal_of_another_search_is_begun_anew(journal, work, other):
    history = recall(work, other)

    assert (history.reported, history.segments) == ([], [])
    assert journal.read() == [other]


def test_segment_that_measured_nothing_is_none(work):
    Journal(work.journal).write([BEGUN, Opened(host="here", setup_seconds=1.0)])

    assert recall(work, BEGUN).segments == []


def test_trial_finds_its_results_and_their_turns(journal, work):
    history = recall(work, BEGUN)

    assert [result["turn"] for result in history.known(0, {"learning_rate": 1e-3})] == [0, 2]


def test_results_of_another_configuration_are_of_no_use(journal, work):
    assert recall(work, BEGUN).known(0, {"learning_rate": 2e-3}) == []


def test_forgotten_trial_is_gone_and_nothing_else(journal, work):
    forget(work, 0)

    history = recall(work, BEGUN)
    assert [result.index for result in history.reported] == [1]
    assert len(history.segments) == 2


def test_known_results_are_told_one_by_one_as_the_search_sees_them(journal, work, tmp_path):
    history = recall(work, BEGUN)
    known = history.known(0, {"learning_rate": 1e-3})
    deliveries = Deliveries(tmp_path / "delivered.txt")
    deliveries.clear()

    first = deliveries.next_of(0, known)
    assert deliveries.next_of(0, known) == first, "not seen yet: the same again"
    deliveries.add(0)
    deliveries.add(1)
    assert deliveries.left(0, known) == 1
    second = deliveries.next_of(0, known)
    assert [Progress.model_validate_json(text).epochs for text in (first, second)] == [1, 4]
    deliveries.add(0)
    assert deliveries.next_of(0, known) is None
    assert deliveries.left(0, known) == 0


def test_result_waits_for_its_turn(journal, work, tmp_path, monkeypatch):
    monkeypatch.setattr("automata.tuning.history.TURN_SECONDS", 60.0)
    known = recall(work, BEGUN).known(1, {"learning_rate": 1e-3})
    deliveries = Deliveries(tmp_path / "delivered.txt")
    deliveries.clear()
    waits = []

    def wait(seconds):
        waits.append(seconds)
        deliveries.add(0)

    monkeypatch.setattr("time.sleep", wait)
    assert deliveries.next_of(1, known) is not None
    assert len(waits) == 1


def test_result_does_not_wait_for_ever(journal, work, tmp_path, monkeypatch):
    monkeypatch.setattr("automata.tuning.history.TURN_SECONDS", 0.05)
    known = recall(work, BEGUN).known(1, {"learning_rate": 1e-3})
    deliveries = Deliveries(tmp_path / "delivered.txt")
    deliveries.clear()

    assert deliveries.next_of(1, known) is not None


@pytest.fixture
def left(work):
    """Files as another search, or this one, may have left them."""
    files = [work.state(0, 1), work.state(0, 2), work.state(0, 3), work.state(2, 1)]
    files += [work.weights(0), work.search, work.final]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("state")
    return files


def test_states_ahead_of_the_journal_are_removed(journal, work, left):
    """A state is on disk before its result is in the journal: the search has not heard of it."""
    recall(work, BEGUN)

    assert [file for file in left if not file.exists()] == [work.state(0, 3), work.state(2, 1)]


def test_nothing_of_another_search_is_left(journal, work, left):
    recall(work, BEGUN.model_copy(update={"data_sha256": "1" * 64}))

    assert [file for file in left if file.exists()] == []


def test_what_a_worker_did_that_outlived_its_raylet_is_in_the_account_of_its_results(work):
    Journal(work.journal).write([BEGUN])
    Deliveries(work.deliveries).clear()
    meter = Meter(sample_seconds=5.0, gpus=[], exclusive=False)
    ledger = Ledger(meter, work, trials=1)
    trial = SimpleNamespace(
        config={"index": 0, "known": [], "configuration": {}}, status=Trial.RUNNING
    )
    with worker() as outliving:
        ledger.setup()
        ledger.on_trial_start(trial)
        before = sum(outliving.process.cpu_times()[:2])
        meter.so_far()
        outliving.orphan()
        burnt = outliving.burn(1.5) - before
        ledger.on_trial_result(trial, {"progress": "{}", "node_ip": "10.0.0.1"})
        ledger.close()  # no trial has ended: Ray failed
    (segment,) = recall(work, BEGUN).segments

    account = segment.measurement
    assert account.cpu_seconds > 0.95 * burnt
    (estimate,) = account.channels
    assert estimate.joules > 0.95 * burnt * account.second_opinion.watts_per_thread
