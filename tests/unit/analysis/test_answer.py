"""The answer of an experiment, from runs that can be averaged by hand."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.answer import answer, cells, sentences

from .conftest import run


def runs(*rows):
    """Make runs of data set, search, selector, fraction, seed, speedup and error."""
    names = ("dataset", "search", "selector", "fraction", "seed", "speedup", "relative_test_error")
    made = [dict(zip(names, row, strict=True)) for row in rows]
    return pd.DataFrame([run(**row, energy_ratio=2 * row["speedup"]) for row in made])


RATIOS = runs(
    ("dna", "random", "gradmatch", 0.1, 0, 1.0, 0.5),
    ("dna", "tpe", "gradmatch", 0.1, 0, 4.0, 0.7),  # 2 (geometric) and 0.6 in seed 0
    ("dna", "random", "gradmatch", 0.1, 1, 8.0, -0.2),  # 8 and -0.2 in seed 1
    ("dna", "random", "gradmatch", 0.01, 0, 90.0, 9.0),  # farther from 10 %
    ("dna", "random", "rs2", 0.1, 0, 80.0, 8.0),  # another method
    ("dna", "random", "full-again", 1.0, 0, 1.0, 0.3),
    ("trec6", "tpe", "gradmatch", 0.1, 0, 1.5, 1.0),
    ("trec6", "tpe", "full", 1.0, 0, 1.0, 0.0),
)


def test_the_answer_has_means_over_searches_then_over_seeds_of_one_method_and_size():
    dna, trec6 = answer(RATIOS).to_dict("records")
    assert (dna["method"], dna["seeds"], trec6["seeds"]) == ("AUTOMATA 10 %", 2, 1)
    assert [dna[f"speedup{end}"] for end in ("", "_low", "_high")] == pytest.approx([4, 2, 8])
    assert dna["co2_energy_ratio"] == pytest.approx(8)
    assert [dna["relative_test_error"], dna["noise"]] == pytest.approx([0.2, 0.3])
    assert np.isnan(trec6["noise"])
    assert cells(answer(RATIOS))["Speedup (\N{MULTIPLICATION SIGN})"].tolist() == [
        "4 [2, 8]",
        "1.5",
    ]


def test_a_sentence_has_the_range_over_data_sets():
    (sentence,) = sentences(answer(RATIOS))
    assert sentence == (
        "Under Hyperband, FULL takes 1.5 to 4 times as long as AUTOMATA 10 %, and 3 to 8 times the "
        "energy and CO2. The test error of AUTOMATA 10 % minus FULL's is +0.2 to +1 percentage "
        "points."
    )


def test_beside_other_work_the_answer_is_about_cpu_time():
    busy = RATIOS.assign(speedup=None, cpu_ratio=7.0, energy_ratio=None, co2_energy_ratio=None)
    (sentence,) = sentences(answer(busy))
    assert "FULL takes 7 times the CPU time of AUTOMATA 10 %, at an unknown energy." in sentence


def test_without_a_run_on_subsets_there_is_no_answer():
    assert answer(RATIOS.query("selector == 'full'")).empty
