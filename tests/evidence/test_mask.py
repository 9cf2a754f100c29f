"""Removing the heads of a map where it is known which head does the work."""

import numpy as np
import pytest

from headatlas.evidence.base import SPLIT
from headatlas.evidence.choice import INTACT, matched
from headatlas.evidence.mask import Mask
from headatlas.intervals import set_interval
from tests import tiny
from tests.evidence.common import first, make_trial, ranking, row, rows

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
        top = row(evidence, task=task, control="top", metric="logprob", k=1)
        assert top.high < top.intact - 1, "damage of more than a nat"
        difference = row(evidence, task=task, control="top", compared_with="random", metric="margin", k=1)
        assert difference.p_value == pytest.approx(2 / 5), "of its layer's four heads it is the worst one to lose"
        assert difference.value < -1
        assert (difference.low, difference.high) == (None, None)
        assert difference.remark == "only 4 sets of heads to compare with; an interval needs 5"
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
        assert difference.value > -0.1
        top = row(evidence, task=task, control="top", metric="logprob", k=1)
        assert abs(top.value - top.intact) < 0.2


def test_the_rows_are_those_of_removing_the_heads_directly(tmp_path):
    trial = make_trial(tmp_path, suite=tiny.suite(72), ks=(2, 3), draws=6)
    evidence = Mask().run(trial)
    for task in trial.tasks:
        ranking, groups = trial.rankings[task], trial.groups(task)
        for k in trial.ks(task):
            drawn = trial.draws(task, k, 6)
            assert len(drawn) > 4 or k == 1
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
            for metric, values in outcome.metrics.items():
                means = values.mean(1)
                p = None if metric == "accuracy" else (1 + (means[3:] <= means[1]).sum()) / (1 + len(drawn))
                difference = values[1] - values[3:].mean(0)
                one = row(evidence, task=task, k=k, compared_with="random", metric=metric)
                assert (one.control, one.draw, one.eval_task) == ("top", None, task)
                assert one.p_value == pytest.approx(p)
                assert one.value == pytest.approx(difference.mean(), abs=1e-5)
                if len(drawn) > 4:
                    expected = set_interval(values[1], values[3:], groups, metric == "accuracy")
                    np.testing.assert_allclose([one.low, one.high], expected, atol=1e-4)


def test_every_draw_has_a_row_of_its_own(tmp_path):
    trial = make_trial(tmp_path, ks=(3,), draws=4)
    different = trial.draws("Colours", 3, 4)
    assert 1 < len(different) == len(set(different)) <= 4
    evidence = rows(Mask().run(trial), task="Colours", control="random", k=3)
    for metric in ("margin", "logprob", "accuracy"):
        assert [one.draw for one in rows(evidence, metric=metric)] == list(range(len(different)))


def test_p_is_no_smaller_than_the_number_of_different_draws_allows(tmp_path):
    trial = planted(tmp_path, RIGHT)
    assert len(trial.draws("Colours", 1, DRAWS)) == 4
    assert row(Mask().run(trial), task="Colours", compared_with="random", metric="margin", k=1).p_value >= 1 / 5


def test_where_all_heads_of_their_layers_were_chosen_there_is_nothing_to_compare_with(tmp_path):
    grid = np.array([[0.0] * 4, [9.0, 8, 7, 6], [0.0] * 4])
    trial = make_trial(tmp_path, grids={"Colours": grid, "Numbers": grid}, ks=(4,))
    evidence = [one for one in Mask().run(trial) if one.k == 4]
    assert {one.control for one in evidence} == {"top", "lowest"}
    assert {(one.compared_with, one.p_value) for one in evidence} == {(None, None)}


def test_maps_that_say_nothing_are_called_right_in_one_of_twenty_cases(tmp_path):
    """The null by simulation: heads have effects, maps are noise. At k = 5 of 6 x 8 heads; p is never too small."""
    rng = np.random.default_rng(0)
    shape, draws, k, cases = (6, 8), 19, 12, 400
    small = []
    for _ in range(cases):
        effects = -rng.lognormal(0, 1.5, size=shape)
        top = ranking(rng.normal(size=shape)).top(k)
        sets = [top, *(matched(top, shape, rng) for _ in range(draws))]
        values = np.array([[sum(effects[head] for head in heads)] * 5 for heads in sets])
        (one,) = Mask().against_sets(
            {"margin": values}, list("abcde"), 0, range(1, draws + 1), "less", task="t", eval_task="t", control="top"
        )
        small.append(one.p_value <= 0.05)
    assert np.mean(small) < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / cases)
    assert np.mean(small) > 0.01
