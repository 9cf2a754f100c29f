"""Ablation in the order of roles, on planted heads and against plain gates."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence.order import grid, matched_order, order_evidence
from headatlas.run.baselines import Baselines
from tests.methods.common import work
from tests.methods.gate import planted_gates
from tests.methods.gate.planted_gates import HELPER, SABOTEUR


def scores(shape, **heads):
    found = {role: np.zeros(shape) for role in ("facilitation", "irrelevance", "interference")}
    found["irrelevance"] += 0.9
    for role, head in heads.items():
        found["irrelevance"][head] = 0
        found[role][head] = 0.9
    return found


def test_planted_heads_have_the_expected_signs(tmp_path):
    job = planted_gates.work(tmp_path)
    rows = order_evidence(job, "Red", scores((3, 4), facilitation=HELPER, interference=SABOTEUR), draws=3)
    change = {(r.control, r.draw, r.k): r.value - r.baseline for r in rows}
    counts = grid(12)
    assert change["facilitation", None, 1] < -1
    assert change["interference", None, 1] > 1
    for k in counts[:-1]:  # the ten dead heads come first
        assert change["irrelevance", None, k] == pytest.approx(0, abs=1e-5)
    assert change["facilitation heads", None, 1] < -1
    assert change["interference heads", None, 1] > 1
    assert change["irrelevance heads", None, 10] == pytest.approx(0, abs=1e-5)
    whole = {change[control, draw, 12] for control, draw in [*((r, None) for r in scores((3, 4))), ("random", 0)]}
    assert len(whole) == 1  # all heads are all heads
    assert {draw for control, draw, _ in change if control == "random"} == {0, 1, 2}


@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_values_are_those_of_gates_on_evaluate_with_intervals_around_them(tmp_path, baseline):
    job = work(tmp_path)
    rng = np.random.default_rng(0)
    given = {role: rng.random((3, 4)) for role in ("facilitation", "irrelevance", "interference")}
    rows = order_evidence(job, "Colours", given, counts=[0, 5], draws=1, baseline=baseline)
    baselines = Baselines(baseline, job)
    row = next(r for r in rows if (r.control, r.k) == ("irrelevance", 5))
    gates = torch.ones(12)
    gates[np.argsort(-given["irrelevance"].ravel())[:5].copy()] = 0
    total = []
    for batch in job.batches("Colours", "evaluate"):
        with torch.inference_mode(), job.model.gate(gates.view(3, 4), baselines.of("Colours", batch)):
            total += batch.score(job.model)[0].tolist()
    assert row.value == pytest.approx(np.mean(total), abs=1e-5)
    assert row.low < row.value < row.high
    first = next(r for r in rows if (r.control, r.k) == ("irrelevance", 0))
    assert first.value == first.baseline == first.low == first.high


def test_random_orders_follow_the_layers(tmp_path):
    order = np.random.default_rng(1).permutation(12)
    drawn = [matched_order(order, (3, 4), draw) for draw in range(3)]
    for own in drawn:
        assert sorted(own) == list(range(12))
        np.testing.assert_array_equal(own // 4, order // 4)
    assert len({tuple(own) for own in drawn}) == 3
    np.testing.assert_array_equal(drawn[0], matched_order(order, (3, 4), 0))


def test_the_grid_runs_from_none_to_all():
    assert grid(12) == [0, 1, 2, 3, 4, 5, 7, 9, 12]
    assert grid(270)[0] == 0 and grid(270)[-1] == 270 and len(grid(270)) == 11
    assert grid(1) == [0, 1]


def test_what_cannot_be_ordered_is_refused(tmp_path):
    job = work(tmp_path)
    good = scores((3, 4))
    with pytest.raises(UsageError, match="An order by irrelevance was asked for, but only facilitation"):
        order_evidence(job, "Colours", {"facilitation": good["facilitation"], "interference": good["interference"]})
    with pytest.raises(HeadAtlasError, match=r"has the shape \(2, 4\) or missing values"):
        order_evidence(job, "Colours", scores((2, 4)))
    with pytest.raises(UsageError, match="Counts .* were asked for; the model has 12 heads"):
        order_evidence(job, "Colours", good, counts=[0, 13])
