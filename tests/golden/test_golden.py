"""Training, selection and search compute what they did when MEASUREMENT got its entries.

On the platform of the stored values every bit must agree, elsewhere nearly.
"""

import json

import pytest

from automata.records.provenance import MEASUREMENT
from automata.registry import SELECTORS
from golden.runs import DECIDED, STORED, TRAININGS, decided, platform, trained

GOLDEN = json.loads(STORED.read_text(encoding="utf-8"))
NEARLY = 1e-2
STORE = "cd tests && python -m golden.runs"


def check(found, stored, part):
    """Fail where a value differs from the stored one, and say what to do."""
    assert stored, f"nothing is stored yet: {STORE}"
    exact = GOLDEN["platform"] == platform()
    other = [
        name
        for name, value in stored.items()
        if found[name] != value and (exact or not _near(found[name], value))
    ]
    assert not other, (
        f"{', '.join(other)}: not as stored. Mend the change; or raise MEASUREMENT"
        f'["{part}"] in automata/records/provenance.py, so that no new run is compared with an '
        f"older one, and store the new values: {STORE}"
    )


def _near(found, stored):
    if isinstance(stored, list):
        return len(found) == len(stored) and all(map(_near, found, stored))
    return found == (pytest.approx(stored, NEARLY, NEARLY) if isinstance(stored, float) else stored)


@pytest.mark.parametrize("names", TRAININGS, ids=" ".join)
def test_training_computes_as_stored(names):
    part = "training" if names[1] == "full" else names[1]
    check(trained(*names), GOLDEN["trainings"].get(" ".join(names)), part)


@pytest.mark.parametrize("names", DECIDED, ids=" ".join)
def test_search_decides_as_stored(names):
    check(decided(*names), GOLDEN["searches"].get(" ".join(names)), "training")


def test_values_were_stored_for_the_measurement_of_today():
    assert GOLDEN["measurement"] == MEASUREMENT, STORE
    assert set(MEASUREMENT) == {"training", "metering", *SELECTORS}
