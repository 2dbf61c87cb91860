"""Methods compared on the same simulated searches."""

import numpy as np
import pandas as pd
import pytest

from automata.config.sections import SchedulerSettings
from automata.errors import UserError
from automata.names import REPEAT
from automata.simulation.study import RESAMPLES, Regrets, _chances, _resampled, studies
from automata.simulation.table import complete, pools
from made_curves import POOL, asked, made_curves, made_study


def compared(noise, scheduler="none"):
    return made_study(made_curves(noise), scheduler).methods.set_index("method")


def test_without_noise_nobody_loses_and_costs_are_those_by_hand():
    found = compared(0.0)
    tuned = found.drop("untuned")
    assert (tuned[["regret", "lost_1", "regret_high", "excess_high"]] == 0).all(axis=None)
    # 6 trials of 8 epochs; on a tenth of the data, and 8 epochs on all.
    assert found.loc["rs2 10 %", "speedup_samples"] == pytest.approx(48 / (4.8 + 8))
    assert found.loc["rs2 10 %", "speedup_cpu"] == pytest.approx(48 / (4.8 + 8))
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


def test_a_loss_of_exactly_two_points_is_not_above_two():
    right = np.arange(11, 501)
    ten, eleven = (100 * (right / 500 - (right - rows) / 500) for rows in (10, 11))
    assert (ten > 2).any()  # in binary
    assert _chances(Regrets(ten, ten[None]))["lost_2"] == 0
    assert _chances(Regrets(eleven, eleven[None]))["lost_2"] == 1


def test_curves_of_another_part_of_the_pool_are_not_compared():
    made = made_curves(0.3)
    other = (made["selector"] == "rs2") & (made["configuration"] == 0)
    made.loc[other, "configuration"] = POOL  # as many rows, of another pool
    found = made_study(made)
    assert not found.methods["method"].str.startswith("rs2").any()


def test_seeds_count_under_which_full_has_the_whole_pool():
    made = made_curves(0.3)
    missing = (made["selector"] == "full") & (made["seed"] == 1) & (made["configuration"] == 5)
    found = studies(complete(made[~missing], {"made": asked()})).methods
    assert (found["seeds"] == 1).all()
    assert REPEAT not in set(found["method"])  # there is no other seed
    missing |= (made["selector"] == "full") & (made["configuration"] == 7)
    with pytest.raises(UserError, match="learning_curves: no data set has all curves of FULL"):
        studies(complete(made[~missing], {"made": asked()}))


@pytest.mark.parametrize("missing", ["searches", "schedulers"])
def test_where_no_search_can_be_simulated_one_line_says_which_can(missing):
    recorded = complete(made_curves(0.0), {"made": asked(**{missing: ()})})
    said = r"^learning_curves: .*; valid: searches random, tpe .*, schedulers hyperband, .*, none$"
    with pytest.raises(UserError, match=said):
        studies(recorded)


def test_a_seed_counts_that_has_all_ways_of_another():
    made = made_curves(0.3)
    missing = (made["selector"] == "rs2") & (made["seed"] == 1) & (made["configuration"] == 5)
    found = studies(complete(made[~missing], {"made": asked()})).methods
    assert (found["seeds"] == 1).all()
    assert found["method"].str.startswith("rs2").any()
    missing = (made["selector"] == "rs2") & (made["configuration"] == 5)
    found = studies(complete(made[~missing], {"made": asked()})).methods
    assert (found["seeds"] == 2).all()
    assert not found["method"].str.startswith("rs2").any()


def test_a_way_of_fewer_seeds_is_left_out_if_that_leaves_more_trainings():
    made = made_curves(0.3, ("full", "rs2", "random"))
    missing = (made["selector"] == "random") & (made["seed"] == 1)
    here = complete(made[~missing], {"made": asked()})["made"]
    assert (here.seeds, {way.selector for way in here.curves}) == ([0, 1], {"full", "rs2"})


def test_what_is_chosen_is_told_with_its_share():
    found = made_study(made_curves(0.0)).chosen
    full = found[found["method"] == "FULL"]
    # The best of all is among 6 of 12 in half of the searches.
    best = full.iloc[0]
    pool = pools(complete(made_curves(0.0), {"made": asked()})).set_index("configuration")
    assert (best["configuration"], pool.loc[best["configuration"], "hyperparameters"]) == (
        POOL - 1,
        '{"x": 0.9166666666666666}',
    )
    assert best["share"] == pytest.approx(0.5, abs=0.05)
    assert full["share"].sum() == pytest.approx(1, abs=0.02)


def test_tpe_is_at_least_as_good_as_random_search_where_scores_are_smooth():
    """And its searches are compared with FULL's own; one epoch knows no result in time."""
    both = asked(searches=["random", "tpe"])
    found = studies(complete(made_curves(0.0), {"made": both})).methods.set_index(
        ["search", "method"]
    )
    accuracy = found["test_accuracy"]
    assert accuracy["tpe", "FULL"] > accuracy["random", "FULL"] + 0.02
    regret = found.loc["tpe", "regret"]
    assert regret[~regret.index.str.contains("untuned|one epoch")].eq(0).all()


def test_pairs_are_compared_on_the_same_searches():
    """Of two selectors with the same curves, and of others whose curves are worse."""
    made = made_curves(0.3, ("full", "rs2"))
    rs2 = made[made["selector"] == "rs2"]
    same, worse = rs2.assign(selector="random"), rs2.assign(selector="gradmatch")
    worse["accuracy"] *= -1  # it takes the worst for the best
    found = made_study(pd.concat([made, same, worse])).contrasts.set_index(["method", "other"])
    assert found.loc[("rs2 10 %", "random 10 %"), ["difference", "difference_high"]].eq(0).all()
    pair = found.loc[("gradmatch 10 %", "rs2 10 %")]
    assert 0 < pair["difference_all_low"] < pair["difference_low"] < pair["difference"]
    assert set(found["difference_comparisons"]) == {len(found) - 1}  # one pair never differs
    assert ("gradmatch 10 %", "one epoch") in found.index


def test_a_horizon_exponent_is_compared_with_none():
    made = made_curves(0.3, ("full", "rs2"))
    lower = made[made["selector"] == "rs2"].assign(horizon_exponent=0.5)
    alone = lower.assign(selector="random")
    found = made_study(pd.concat([made, lower, alone])).contrasts
    pairs = found[["method", "other"]].to_numpy().tolist()
    assert pairs == [["rs2 10 %", "one epoch"], ["rs2 10 %, beta 0.5", "rs2 10 %"]]
    assert found["difference"].iloc[1] == 0


def test_trials_with_a_warm_start_take_part_under_schedulers_that_have_one():
    made = made_curves(0.3)
    warm = made[made["selector"] == "rs2"].assign(warm_start=0.35)

    def simulated(kappa):
        settings = SchedulerSettings.model_validate({"none": {"warm_start": kappa}})
        searches = {"made": asked().model_copy(update={"scheduler": settings})}
        return set(studies(complete(pd.concat([made, warm]), searches)).methods["method"])

    assert "rs2 10 %, warm start 0.35" in simulated(0.5)
    assert simulated(0.0) == simulated(0.5) - {
        "rs2 10 %, warm start 0.35" + rest
        for rest in ("", ", by loss", ", 3 finalists", ", by loss, 3 finalists")
    }


def test_a_repeat_has_a_seed_of_its_resample():
    """Of two seeds half of the resamples have one alone: then FULL's repeat has it, too."""
    draws = _resampled(np.random.default_rng(0), asked(), 2)
    seeds, others = (of.reshape(RESAMPLES, -1) for of in (draws.seeds, draws.others))
    alone = seeds.min(axis=1) == seeds.max(axis=1)
    assert 0.3 < alone.mean() < 0.7
    assert (seeds[alone] == others[alone]).all()
    assert (seeds[~alone] != others[~alone]).all()


def test_intervals_lie_around_what_all_searches_say():
    """Resamples lose more, as they have configurations twice: that is subtracted."""
    found = made_study(made_curves(0.3)).methods.set_index("method")
    assert (found["regret_low"] <= found["regret"]).all()
    assert (found["regret_high"] >= found["regret"]).all()
    middle = (found["regret_all_low"] + found["regret_all_high"]) / 2
    assert middle.to_numpy() == pytest.approx(found["regret"].to_numpy())
