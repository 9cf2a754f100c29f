"""Removing the heads of a map where it is known which head does the work."""

import numpy as np
import pytest

from headatlas.evidence.mask import INTACT, mask
from headatlas.evidence.trial import SPLIT
from headatlas.stats import bootstrap_mean
from tests import tiny
from tests.evidence.common import first, row, rows, trial

DRAWS = 12
RIGHT = {task: first(head) for task, head in tiny.HELPERS.items()}


def planted(folder, grids, **settings):
    return trial(folder, tiny.planted(), tiny.copying(36), grids, **{"ks": (1,), "k": 1, "draws": DRAWS} | settings)


def test_a_map_that_finds_the_helper_is_confirmed(tmp_path):
    judged = planted(tmp_path, RIGHT)
    found = mask(judged)
    for task in tiny.HELPERS:
        different = judged.draws(task, 1, DRAWS)
        p = row(found, task=task, metric="p_value", k=1).value
        assert p == pytest.approx(1 / (1 + len(different))), "the smallest there can be"
        top = row(found, task=task, control="top", metric="logprob", k=1)
        assert top.high < top.baseline - 1, "damage of more than a nat"
        difference = row(found, task=task, control="top minus random", k=1)
        assert difference.low <= difference.value <= difference.high < -1
        assert difference.baseline == 0
        accuracy = row(found, task=task, control="top", metric="accuracy", k=1)
        assert accuracy.baseline == 1
        assert accuracy.value < 0.7
        lowest = row(found, task=task, control="lowest", metric="logprob", k=1)
        assert abs(lowest.value - lowest.baseline) < 0.2


def test_a_map_that_points_elsewhere_is_not(tmp_path):
    wrong = {"Colours": first((2, 2)), "Numbers": first((1, 0))}  # the layers of the helpers, other heads
    found = mask(planted(tmp_path, wrong))
    for task in wrong:
        assert row(found, task=task, metric="p_value", k=1).value > 0.3
        difference = row(found, task=task, control="top minus random", k=1)
        assert difference.high > 0
        top = row(found, task=task, control="top", metric="logprob", k=1)
        assert abs(top.value - top.baseline) < 0.2


def test_the_rows_are_those_of_removing_the_heads_directly(tmp_path):
    judged = trial(tmp_path, ks=(2, 3))
    found = mask(judged)
    for task in judged.tasks:
        ranking, groups = judged.rankings[task], judged.groups(task)
        for k in judged.ks(task):
            drawn = judged.draws(task, k, 5)
            sets = [INTACT, ranking.top(k), ranking.lowest(k), *drawn]
            outcome = judged.remove("By hand", {task: sets})[task]
            assert outcome.logprob.shape[1] == len(judged.work.examples(task, SPLIT))
            named = [("top", None), ("lowest", None), *(("random", draw) for draw in range(len(drawn)))]
            for i, (control, draw) in enumerate(named, start=1):
                for metric, values in outcome.metrics.items():
                    one = row(found, task=task, k=k, control=control, draw=draw, metric=metric)
                    assert one.value == pytest.approx(values[i].mean(), abs=1e-5)
                    assert one.baseline == pytest.approx(values[0].mean(), abs=1e-5)
                    assert one.eval_task == task
            means = outcome.logprob.mean(1)
            p = (1 + (means[3:] <= means[1]).sum()) / (1 + len(drawn))
            assert row(found, task=task, k=k, metric="p_value").value == pytest.approx(p)
            difference = outcome.logprob[1] - outcome.logprob[3:].mean(0)
            one = row(found, task=task, k=k, control="top minus random")
            assert one.value == pytest.approx(difference.mean(), abs=1e-5)
            np.testing.assert_allclose([one.low, one.high], bootstrap_mean(difference, groups), atol=1e-4)


def test_every_draw_has_a_row_of_its_own(tmp_path):
    judged = trial(tmp_path, ks=(3,), draws=4)
    different = judged.draws("Colours", 3, 4)
    assert 1 < len(different) == len(set(different)) <= 4
    found = rows(mask(judged), task="Colours", control="random", k=3)
    for metric in ("logprob", "accuracy"):
        assert [one.draw for one in rows(found, metric=metric)] == list(range(len(different)))


def test_p_is_no_smaller_than_the_number_of_different_draws_allows(tmp_path):
    judged = planted(tmp_path, RIGHT)
    assert len(judged.draws("Colours", 1, DRAWS)) == 3
    assert row(mask(judged), task="Colours", metric="p_value", k=1).value >= 1 / 4


@pytest.mark.parametrize("k", [7, 9])
def test_random_heads_are_never_fewer_than_the_top_ones(tmp_path, k):
    judged = trial(tmp_path, ks=(k,))
    found = [one for one in mask(judged) if one.k == k]
    assert {one.control for one in found} == {"top", "lowest"}
    assert {one.metric for one in found} == {"logprob", "accuracy"}  # nothing to be compared with: no p
