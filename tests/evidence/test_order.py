"""Ablation in the order of roles, on planted heads and against plain gates."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence.order import Order, grid, matched_order, order_evidence
from headatlas.run.baselines import Baselines
from tests import tiny
from tests.evidence.common import make_trial
from tests.methods.gate.planted_gates import HELPER, SABOTEUR, planted_context
from tests.run.contexts import run_context


def scores(shape, **heads):
    by_role = {role: np.zeros(shape) for role in ("facilitation", "irrelevance", "interference")}
    by_role["irrelevance"] += 0.9
    for role, head in heads.items():
        by_role["irrelevance"][head] = 0
        by_role[role][head] = 0.9
    return by_role


def test_planted_heads_have_the_expected_signs(tmp_path):
    context = planted_context(tmp_path)
    rows = order_evidence(context, "Red", scores((3, 4), facilitation=HELPER, interference=SABOTEUR), draws=3)
    change = {(r.control, r.draw, r.k): r.value - r.intact for r in rows if r.factor is None}
    above = {(r.control, r.k): r.value - r.intact for r in rows if r.factor is not None}
    assert {r.factor for r in rows} == {None, 0.5}
    counts = grid(12)
    assert change["facilitation", None, 1] < -1
    assert change["interference", None, 1] > 1
    for k in counts[:-1]:  # the ten dead heads come first
        assert change["irrelevance", None, k] == pytest.approx(0, abs=1e-5)
    # Exactly the heads whose role is above 0.5.
    assert set(above) == {("facilitation", 1), ("interference", 1), ("irrelevance", 10)}
    assert above["facilitation", 1] < -1
    assert above["interference", 1] > 1
    assert above["irrelevance", 10] == pytest.approx(0, abs=1e-5)
    whole = {change[control, draw, 12] for control, draw in [*((r, None) for r in scores((3, 4))), ("random", 0)]}
    assert len(whole) == 1  # all heads are all heads
    assert {draw for control, draw, _ in change if control == "random"} == {0, 1, 2}


@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_values_are_those_of_gates_on_evaluate_with_intervals_around_them(tmp_path, baseline):
    context = run_context(tmp_path, suite=tiny.suite(72))
    rng = np.random.default_rng(0)
    given = {role: rng.random((3, 4)) for role in ("facilitation", "irrelevance", "interference")}
    rows = order_evidence(context, "Colours", given, counts=[0, 5], draws=1, baseline=baseline)
    baselines = Baselines(baseline, context)
    row = next(r for r in rows if (r.control, r.k, r.factor) == ("irrelevance", 5, None))
    gates = torch.ones(12)
    gates[np.argsort(-given["irrelevance"].ravel())[:5].copy()] = 0
    total = []
    for batch in context.batches("Colours", "evaluate"):
        with torch.inference_mode(), context.model.gate(gates.view(3, 4), baselines.for_batch("Colours", batch)):
            total += batch.score(context.model)[0].tolist()
    assert row.value == pytest.approx(np.mean(total), abs=1e-5)
    assert row.low < row.value < row.high
    first = next(r for r in rows if (r.control, r.k, r.factor) == ("irrelevance", 0, None))
    assert first.value == first.intact == first.low == first.high


def test_random_orders_follow_the_layers(tmp_path):
    order = np.random.default_rng(1).permutation(12)
    drawn = [matched_order(order, (3, 4), draw) for draw in range(3)]
    for random_order in drawn:
        assert sorted(random_order) == list(range(12))
        np.testing.assert_array_equal(random_order // 4, order // 4)
    assert len({tuple(random_order) for random_order in drawn}) == 3
    np.testing.assert_array_equal(drawn[0], matched_order(order, (3, 4), 0))


def test_the_grid_runs_from_none_to_all():
    assert grid(12) == [0, 1, 2, 3, 4, 5, 7, 9, 12]
    assert grid(270)[0] == 0 and grid(270)[-1] == 270 and len(grid(270)) == 11
    assert grid(1) == [0, 1]


def test_what_cannot_be_ordered_is_refused(tmp_path):
    context = run_context(tmp_path)
    good = scores((3, 4))
    with pytest.raises(UsageError, match="An order by irrelevance was asked for, but only facilitation"):
        order_evidence(context, "Colours", {"facilitation": good["facilitation"], "interference": good["interference"]})
    with pytest.raises(HeadAtlasError, match=r"has the shape \(2, 4\) or missing values"):
        order_evidence(context, "Colours", scores((2, 4)))
    with pytest.raises(UsageError, match="Counts .* were asked for; the model has 12 heads"):
        order_evidence(context, "Colours", good, counts=[0, 13])


def test_the_test_takes_the_roles_of_every_task_from_the_maps_of_its_method(tmp_path):
    trial = make_trial(tmp_path)
    rng = np.random.default_rng(0)
    roles = ("facilitation", "irrelevance", "interference")
    trial.maps = {task: {role: rng.random((3, 4)) for role in roles} for task in trial.tasks}
    evidence = Order().run(trial)
    for task in trial.tasks:
        expected = order_evidence(trial.context, task, trial.maps[task], draws=3)
        assert [row for row in evidence if row.task == task] == expected
    assert {(row.test, row.metric) for row in evidence} == {("order", "logprob")}
    trial.maps = {"Colours": {"importance": np.zeros((3, 4))}}
    with pytest.raises(HeadAtlasError, match="The method has no 'facilitation' of 'Colours'"):
        Order().run(trial)
