"""Display names, looks and order."""

from automata import names
from automata.analysis.study import Panel
from automata.catalog import DATASETS
from automata.registry import METHODS, SCHEDULERS, SEARCHES, SELECTORS


def test_data_sets_have_the_papers_names_and_order_and_a_users_own_follow_by_name():
    assert set(names.DATASETS) == set(DATASETS)
    labels = ["mine", "letter", "a", "dna"]
    assert names.ordered(labels, names.DATASETS) == ["dna", "letter", "a", "mine"]
    assert Panel("my-set", "tpe", "hyperband").title == "my-set (TPE, HB)"


def test_methods_differ_in_name_marker_and_colour():
    for registry in (METHODS, SCHEDULERS, SEARCHES):
        assert len({row.display for row in registry.values()}) == len(registry)
    assert names.LOOKS.keys() <= METHODS.keys()
    assert names.SCHEDULER_LOOKS.keys() <= SCHEDULERS.keys()
    for looks in (names.LOOKS, names.SCHEDULER_LOOKS):
        markers = [*(marker for _, marker in looks.values()), *names.SPARE_MARKERS]
        assert len(set(markers)) == len(markers)
    colours = [names.LOOKS[name][0] for name in SELECTORS if name in names.LOOKS]
    colours += names.SPARE_COLOURS
    assert len(set(colours)) == len(colours)
