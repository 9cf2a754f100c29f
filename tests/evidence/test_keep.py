"""Keeping only the heads of a map: fractions and areas by hand."""

import numpy as np
import pytest

from headatlas.evidence import keep as keep_module
from headatlas.evidence.keep import Keep
from headatlas.run.baselines import Baselines
from tests import tiny
from tests.evidence.common import first, make_trial, row, rows, without

GROUPS = [str(i) for i in range(12)]
EVERY = frozenset((layer, head) for layer in range(3) for head in range(4))


def circuit(k: int) -> frozenset:
    return frozenset(sorted(EVERY)[:k])


def fractions(*levels: tuple[str, int | None, int, float], spread: float = 0.0):
    """From hand-made mean log-probabilities: -1 intact and -5 without heads, and what is given."""
    plan = [("all", None, EVERY), ("none", None, frozenset())]
    plan += [(control, draw, circuit(k)) for control, draw, k, _ in levels]
    means = np.array([-1.0, -5.0, *(level for *_, level in levels)])
    noise = np.linspace(-spread, spread, 12)
    return list(Keep().fractions("t", plan, means[:, None] + noise, GROUPS, 12))


def test_the_fraction_is_one_with_all_heads_and_zero_without_any():
    evidence = fractions(("top", None, 3, -1.0), ("top", None, 6, -5.0), ("top", None, 8, -3.0), spread=2.0)
    assert [one.value for one in rows(evidence, metric="fraction")] == pytest.approx([1, 0, 0.5])
    assert [one.k for one in rows(evidence, metric="fraction")] == [3, 6, 8]
    for one in rows(evidence, metric="fraction"):
        assert one.low == pytest.approx(one.value)  # all circuits move together: a paired interval has no width
        assert one.high == pytest.approx(one.value)


def test_the_areas_are_those_of_the_curve_by_hand():
    """f = 0, 0.5, 0.75, 1 at 0, 3, 6 and 12 of 12 heads."""
    evidence = fractions(("top", None, 3, -3.0), ("top", None, 6, -2.0))
    cpr = 0.25 * (0 + 0.5) / 2 + 0.25 * (0.5 + 0.75) / 2 + 0.5 * (0.75 + 1) / 2
    cmd = 0.25 * (1 + 0.5) / 2 + 0.25 * (0.5 + 0.25) / 2 + 0.5 * (0.25 + 0) / 2
    assert row(evidence, control="top", metric="cpr").value == pytest.approx(cpr)
    assert row(evidence, control="top", metric="cmd").value == pytest.approx(cmd)
    assert not [one for one in evidence if one.control == "random"]


def test_more_than_all_of_the_model_counts_for_one_area_and_against_the_other():
    """A circuit that does better than the model: f = 1.5 at half the heads."""
    evidence = fractions(("top", None, 6, 1.0))
    assert row(evidence, control="top", metric="cpr").value == pytest.approx(0.5 * 0.75 + 0.5 * 1.25)
    assert row(evidence, control="top", metric="cmd").value == pytest.approx(0.5 * 0.75 + 0.5 * 0.25)


def test_random_circuits_of_one_size_count_as_their_mean():
    evidence = fractions(("random", 0, 6, -5.0), ("random", 1, 6, -1.0), ("top", None, 6, -1.0))
    assert row(evidence, control="random", metric="cpr").value == pytest.approx(0.5 * 0.25 + 0.5 * 0.75)
    assert row(evidence, control="top", metric="cpr").value == pytest.approx(0.5 * 0.5 + 0.5)
    assert [one.value for one in rows(evidence, control="random", metric="fraction")] == pytest.approx([0, 1])


def test_intervals_of_fractions_hold_their_values(tmp_path):
    evidence = Keep().run(
        make_trial(tmp_path, tiny.planted(), tiny.copying(36), {t: first(h) for t, h in tiny.HELPERS.items()})
    )
    for one in rows(evidence, metric="fraction") + rows(evidence, metric="cpr") + rows(evidence, metric="cmd"):
        assert one.low <= one.value <= one.high


def test_kept_heads_stay_and_all_others_are_replaced(tmp_path):
    trial = make_trial(tmp_path)
    evidence, model = Keep().run(trial), trial.context.model
    means = Baselines("mean", trial.context)
    for task in trial.tasks:
        examples = trial.context.examples(task, "evaluate")

        def level(kept, task=task, examples=examples):
            removed = EVERY - kept
            return np.mean([without(model, example, removed, means.mean(task))[0] for example in examples])

        intact, none = level(EVERY), level(frozenset())
        assert row(evidence, task=task, control="none", metric="logprob", k=0).value == pytest.approx(none, abs=1e-5)
        for k in (2, 4):
            value = level(trial.rankings[task].top(k))
            top = row(evidence, task=task, control="top", metric="logprob", k=k)
            assert top.value == pytest.approx(value, abs=1e-5)
            assert top.intact == pytest.approx(intact, abs=1e-5)
            if intact - none >= keep_module.SMALLEST:
                fraction = row(evidence, task=task, control="top", metric="fraction", k=k).value
                assert fraction == pytest.approx((value - none) / (intact - none), abs=1e-3)


def test_the_planted_head_alone_carries_its_task(tmp_path):
    grids = {task: first(head) for task, head in tiny.HELPERS.items()}
    evidence = Keep().run(make_trial(tmp_path, tiny.planted(), tiny.copying(36), grids, sizes=(1, 2)))
    for task in grids:
        assert row(evidence, task=task, control="top", metric="fraction", k=1).value > 0.8
        assert all(one.value < 0.5 for one in rows(evidence, task=task, control="random", metric="fraction", k=1))
        top, random = (row(evidence, task=task, control=control, metric="cpr").value for control in ("top", "random"))
        assert top > random + 0.05


def test_where_no_head_matters_no_fraction_is_given_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(keep_module, "SMALLEST", 1e6)
    trial = make_trial(tmp_path)
    evidence = Keep().run(trial)
    assert {one.metric for one in evidence} == {"margin", "logprob", "accuracy"}
    assert "Colours: the model loses almost nothing without any head, so no recovered fraction is given." in (
        trial.context.runner.reporter.said
    )


def test_circuits_have_the_size_they_are_said_to_have_and_random_ones_too(tmp_path):
    trial = make_trial(tmp_path, sizes=(2, 8, 12, 30))
    evidence = Keep().run(trial)
    assert {one.k for one in rows(evidence, task="Colours", control="top", metric="logprob")} == {2, 8}
    # Of 12 heads there are no 8 others: that circuit has no random ones to be compared with.
    assert {one.k for one in rows(evidence, task="Colours", control="random", metric="logprob")} == {2}


def test_a_map_of_some_heads_makes_no_circuit_larger_than_itself(tmp_path):
    grid = np.full((3, 4), np.nan)
    grid[1, :3] = 3, 2, 1
    evidence = Keep().run(make_trial(tmp_path, grids={"Colours": grid, "Numbers": grid}))
    assert {one.k for one in rows(evidence, control="top", metric="logprob")} == {2}
