"""Methods compared on the same simulated searches."""

import pytest

from automata.config import SchedulerSettings
from automata.config.curves import Simulated
from automata.errors import UserError
from automata.simulation.study import REPEAT, studies, study
from made_curves import POOL, made_curves


def compared(noise, scheduler="none"):
    found = study(made_curves(noise), scheduler, SchedulerSettings(), 6, [0, 1])
    return found.set_index("method")


def test_without_noise_nobody_loses_and_costs_are_those_by_hand():
    found = compared(0.0)
    tuned = found.drop("untuned")
    assert (tuned[["regret", "lost_1", "regret_high", "excess_high"]] == 0).all(axis=None)
    # 6 trials of 8 epochs; on a tenth of the data, and 8 epochs on all.
    assert found.loc["rs2 10 %", "speedup_samples"] == pytest.approx(48 / (4.8 + 8))
    assert found.loc["rs2 10 %", "speedup_seconds"] == pytest.approx(48 / (4.8 + 8))
    # 6 epochs for all; three to 2, two to 4, one to 8: 1, 2 and 4 more.
    assert found.loc["one epoch", "speedup_samples"] == pytest.approx(48 / (6 + 3 + 4 + 4))
    # FULL takes the best of 6 of 12, untuned any: the mean of the largest is 6 / 7 * 13 - 1.
    expected = 100 / POOL * (6 / 7 * 13 - 1 - 5.5)
    assert found.loc["untuned", "regret"] == pytest.approx(expected, rel=0.05)


def test_noise_makes_losses_whose_interval_has_the_mean():
    found = compared(0.3)
    assert found.loc["FULL", "regret"] == 0
    assert abs(found.loc[REPEAT, "regret"]) < 3
    row = found.loc["rs2 10 %"]
    assert row["regret_low"] < row["regret"] < row["regret_high"]
    assert 0 < row["lost_5"] <= row["lost_2"] <= row["lost_1"] < 1
    assert found.loc[REPEAT, ["excess", "excess_low", "excess_high"]].eq(0).all()


def test_curves_of_another_part_of_the_pool_are_not_compared():
    made = made_curves(0.3)
    other = (made["selector"] == "rs2") & (made["configuration"] == 0)
    made.loc[other, "configuration"] = POOL  # as many rows, of another pool
    found = study(made, "none", SchedulerSettings(), 6, [0, 1])
    assert not found["method"].str.startswith("rs2").any()


def test_a_data_set_without_all_curves_of_full_has_no_rows():
    asked = Simulated(
        configurations=6, seeds=[0, 1, 2], schedulers=["none"], scheduler=SchedulerSettings()
    )
    with pytest.raises(UserError, match="learning_curves: no data set has all curves of FULL"):
        studies(made_curves(0.0), {"made": asked})
