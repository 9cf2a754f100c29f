"""Removing the heads of a map where it is known which head does the work."""

import numpy as np
import pytest

from headatlas.evidence.base import SPLIT
from headatlas.evidence.choice import INTACT
from headatlas.evidence.mask import Mask
from headatlas.stats import bootstrap_mean
from tests import tiny
from tests.evidence.common import first, make_trial, row, rows

DRAWS = 12
RIGHT = {task: first(head) for task, head in tiny.HELPERS.items()}


def planted(folder, grids, **settings):
    return make_trial(
        folder, tiny.planted(), tiny.copying(36), grids, **{"ks": (1,), "k": 1, "draws": DRAWS} | settings
    )


def test_a_map_that_finds_the_helper_is_confirmed(tmp_path):
    trial = planted(tmp_path, RIGHT)
    evidence = Mask().run(trial)
    for task in tiny.HELPERS:
        different = trial.draws(task, 1, DRAWS)
        top = row(evidence, task=task, control="top", metric="logprob", k=1)
        assert top.high < top.intact - 1, "damage of more than a nat"
        difference = row(evidence, task=task, control="top", compared_with="random", metric="margin", k=1)
        assert difference.p_value == pytest.approx(1 / (1 + len(different))), "the smallest there can be"
        assert difference.low <= difference.value <= difference.high < -1
        assert difference.intact == 0
        accuracy = row(evidence, task=task, control="top", metric="accuracy", k=1)
        assert accuracy.intact == 1
        assert accuracy.value < 0.7
        lowest = row(evidence, task=task, control="lowest", metric="logprob", k=1)
        assert abs(lowest.value - lowest.intact) < 0.2


def test_a_map_that_points_elsewhere_is_not(tmp_path):
    wrong = {"Colours": first((2, 2)), "Numbers": first((1, 0))}  # the layers of the helpers, other heads
    evidence = Mask().run(planted(tmp_path, wrong))
    for task in wrong:
        difference = row(evidence, task=task, control="top", compared_with="random", metric="margin", k=1)
        assert difference.p_value > 0.3
        assert difference.high > 0
        top = row(evidence, task=task, control="top", metric="logprob", k=1)
        assert abs(top.value - top.intact) < 0.2


def test_the_rows_are_those_of_removing_the_heads_directly(tmp_path):
    trial = make_trial(tmp_path, ks=(2, 3))
    evidence = Mask().run(trial)
    for task in trial.tasks:
        ranking, groups = trial.rankings[task], trial.groups(task)
        for k in trial.ks(task):
            drawn = trial.draws(task, k, 5)
            sets = [INTACT, ranking.top(k), ranking.lowest(k), *drawn]
            outcome = trial.remove("By hand", {task: sets})[task]
            assert outcome.logprob.shape[1] == len(trial.context.examples(task, SPLIT))
            named = [("top", None), ("lowest", None), *(("random", draw) for draw in range(len(drawn)))]
            for i, (control, draw) in enumerate(named, start=1):
                for metric, values in outcome.metrics.items():
                    one = row(evidence, task=task, k=k, control=control, draw=draw, metric=metric)
                    assert one.value == pytest.approx(values[i].mean(), abs=1e-5)
                    assert one.intact == pytest.approx(values[0].mean(), abs=1e-5)
                    assert one.eval_task == task
            for metric in ("margin", "logprob"):
                values = outcome.metrics[metric]
                means = values.mean(1)
                p = (1 + (means[3:] <= means[1]).sum()) / (1 + len(drawn))
                difference = values[1] - values[3:].mean(0)
                one = row(evidence, task=task, k=k, compared_with="random", metric=metric)
                assert (one.control, one.draw, one.eval_task) == ("top", None, task)
                assert one.p_value == pytest.approx(p)
                assert one.value == pytest.approx(difference.mean(), abs=1e-5)
                np.testing.assert_allclose([one.low, one.high], bootstrap_mean(difference, groups), atol=1e-4)
            assert {one.metric for one in rows(evidence, compared_with="random")} == {"margin", "logprob"}


def test_every_draw_has_a_row_of_its_own(tmp_path):
    trial = make_trial(tmp_path, ks=(3,), draws=4)
    different = trial.draws("Colours", 3, 4)
    assert 1 < len(different) == len(set(different)) <= 4
    evidence = rows(Mask().run(trial), task="Colours", control="random", k=3)
    for metric in ("margin", "logprob", "accuracy"):
        assert [one.draw for one in rows(evidence, metric=metric)] == list(range(len(different)))


def test_p_is_no_smaller_than_the_number_of_different_draws_allows(tmp_path):
    trial = planted(tmp_path, RIGHT)
    assert len(trial.draws("Colours", 1, DRAWS)) == 3
    assert row(Mask().run(trial), task="Colours", compared_with="random", metric="margin", k=1).p_value >= 1 / 4


@pytest.mark.parametrize("k", [7, 9])
def test_random_heads_are_never_fewer_than_the_top_ones(tmp_path, k):
    trial = make_trial(tmp_path, ks=(k,))
    evidence = [one for one in Mask().run(trial) if one.k == k]
    assert {one.control for one in evidence} == {"top", "lowest"}
    assert {one.metric for one in evidence} == {"margin", "logprob", "accuracy"}
    assert {(one.compared_with, one.p_value) for one in evidence} == {(None, None)}  # nothing to be compared with: no p
