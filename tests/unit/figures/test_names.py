"""Display names."""

import pytest

from automata.figures.names import combination, dataset


@pytest.mark.parametrize(
    ("name", "shown"),
    [("dna", "DNA"), ("connect4", "CONNECT-4"), ("glue-sst2", "glue-SST2"), ("cifar10", "CIFAR10")],
)
def test_data_sets_are_called_as_in_the_paper(name, shown):
    assert dataset(name) == shown


def test_a_users_own_data_set_keeps_its_name():
    assert combination("my-set", "tpe", "hyperband") == "my-set (TPE, HB)"
