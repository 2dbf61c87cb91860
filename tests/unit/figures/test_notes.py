"""What a figure says of its own evidence."""

import pytest

from automata.figures.files import draw

from .drawn import note_of

GROW = "Markers grow with the subset: 10 %."
PANEL = ["sst5", "tpe", "hyperband"]


def note(study, figure="tradeoff"):
    return note_of(draw(f"{figure}/sst5", study))


def test_a_note_of_one_seed_has_no_words_about_bars(make_study, small_runs):
    shown = note(make_study(small_runs.query("seed == 0")))
    assert shown.endswith(f" of the CPU time. One seed. {GROW}")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"exclusive": False}, " Runs may have overlapped on the host."),
        ({"other_cpu_share": 0.2}, " The host was busy with other work during 3 runs."),
        ({"best_epochs": 7}, " In 3 of 3 FULL runs the best trial was stopped early."),
        ({}, f" {GROW}"),  # the row about the user's own data is no difference
    ],
)
def test_a_note_names_what_weakens_the_runs(make_study, small_runs, changes, words):
    own = [[*PANEL, "data set", "mine", "not in the paper"]]
    assert note(make_study(small_runs.assign(**changes), own)).endswith(words)


def test_a_figure_of_energy_says_how_it_was_obtained_and_of_how_many(make_study, small_runs):
    source = "pyJoules NVML + pyJoules RAPL"
    runs = small_runs.assign(energy_method="measured", energy_source=source)
    runs.loc[runs["selector"] == "random", ["energy_joules", "energy_method"]] = None
    study = make_study(runs)
    shown = note(study, "energy")
    assert shown.startswith("3 of 9 runs have no energy ratio. ")
    assert "Energy of FULL / energy of the run. Energy: RAPL+NVML counters" in shown
    assert "nergy" not in note(study)


@pytest.mark.parametrize("name", ["tradeoff", "energy"])
def test_figures_of_a_data_set_count_the_settings_that_differ(make_study, small_runs, name):
    differing = [
        [*PANEL, "seeds", "3", "5"],
        [*PANEL, "device", "cpu", "V100"],
        ["dna", "tpe", "asha", "epochs", "3", "5"],
    ]
    shown = note(make_study(small_runs, differing, trials=True), name)
    assert shown.endswith(" The protocol differs from the paper's in 2 settings (differences.csv).")
