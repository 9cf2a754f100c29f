"""How evidence is read: levels and differences apart, in the order of the atlas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headatlas.views.rows import NEUTRAL, by_task, draws, only, outcome, outcomes, single, with_headline
from tests.atlases import rich_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("rows") / "atlas", ["b", "a", "c"], (6, 4), tested=("probe", "gate"))


def test_levels_and_differences_are_never_mixed(atlas):
    for one in outcomes(atlas):
        rows = only(atlas.evidence, test=one.test.name, method=one.method.name)
        assert len(one.levels) + len(one.differences) == len(rows)
        assert one.levels["compared_with"].isna().all() and one.differences["compared_with"].notna().all()
        np.testing.assert_allclose(one.levels["change"], one.levels["value"] - one.levels["intact"])
        np.testing.assert_allclose(one.levels["change_low"], one.levels["low"] - one.levels["intact"])


def test_outcomes_come_in_the_order_of_the_atlas(atlas):
    pairs = [(one.test.name, one.method.name) for one in outcomes(atlas)]
    tests = ["mask", "keep", "specificity", "hierarchy", "steer"]
    assert pairs == [(test, "probe") for test in tests] + [(test, "gate") for test in [*tests, "order"]]
    assert [one.test.name for one in outcomes(atlas, "gate")] == [*tests, "order"]
    assert outcomes(atlas, "attribute") == []


def test_points_beside_a_curve_and_summaries_are_not_part_of_it(atlas):
    order, keep = outcome(atlas, "order", "gate"), outcome(atlas, "keep", "gate")
    assert order.levels["factor"].notna().sum() == 9 and order.curve["factor"].isna().all()
    assert set(keep.summaries["metric"]) == {"cpr", "cmd"} and set(keep.curve["metric"]).isdisjoint({"cpr", "cmd"})
    assert len(order.curve) + 9 == len(order.levels)


def test_controls_are_sorted_by_what_they_are_for(atlas):
    mask, keep, steer = (outcome(atlas, name, "probe") for name in ("mask", "keep", "steer"))
    assert (mask.chosen, mask.others) == (["top"], ["lowest"])
    assert (keep.chosen, keep.others) == (["top"], ["none"])
    assert (steer.chosen, steer.others) == (["steer", "scale"], [])
    assert (steer.most_heads, steer.metrics) == (16, ["accuracy", "logprob"])
    assert outcome(atlas, "specificity", "probe").metrics == ["logprob", "accuracy"]  # perplexity is of neutral text


def test_who_chose_the_heads_and_how_the_test_was_run(atlas):
    assert outcome(atlas, "mask", "gate").chosen_by == "gate, largest facilitation first"
    assert outcome(atlas, "order", "gate").chosen_by == "gate, by facilitation, interference, irrelevance"
    assert outcome(atlas, "mask", "gate").settings["draws"] == 50


def test_heads_taken_by_another_measure_are_said_to_be(atlas):
    mask = outcome(atlas, "mask", "gate")
    other = replace(mask, settings={**mask.settings, "measure": "interference"})
    assert other.chosen_by == "gate, largest interference first"


def test_the_margin_comes_first_where_every_measured_task_has_one(atlas):
    """Neutral text needs none. An atlas without margins shows log-probabilities."""
    mask = outcome(atlas, "mask", "probe")
    assert mask.test.headline == "logprob" and atlas.run.test("mask").headline == "margin"
    rows = only(atlas.evidence, test="specificity", method="probe")
    margins = rows[(rows["metric"] == "logprob") & (rows["eval_task"] != NEUTRAL)].assign(metric="margin")
    info = atlas.run.test("specificity")
    assert with_headline(info, pd.concat([rows, margins])).headline == "margin"
    some = pd.concat([rows, margins[margins["eval_task"] != "a"]])
    assert with_headline(info, some).headline == "logprob"
    assert outcome(atlas, "steer", "probe").test.headline == "accuracy"


def test_numbers_are_picked_and_draws_summed_up(atlas):
    mask = outcome(atlas, "mask", "probe")
    assert [task for task, _ in by_task(mask.levels)] == ["b", "a", "c"]
    random = only(mask.levels, task="a", control="random", metric="logprob", k=4)
    drawn = draws(random, "change").loc[4]
    assert drawn["mean"] == pytest.approx(random["change"].mean())
    assert (drawn["low"], drawn["high"]) == tuple(random["change"].quantile([0.025, 0.975]))
    top = only(mask.levels, task="a", control="top", metric="logprob")
    assert single(top, "change", k=4) == only(top, k=4)["change"].iloc[0]
    assert np.isnan(single(top, "change", k=5000))
