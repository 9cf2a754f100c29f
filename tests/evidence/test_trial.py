"""Removing heads, against one unpadded option at a time under one gate."""

import numpy as np
import pytest
import torch

from headatlas.evidence import trial as trial_module
from headatlas.evidence.mask import INTACT
from headatlas.evidence.trial import SPLIT, Outcome, changes, gate_batch, gates_without, score_each
from headatlas.run.baselines import Baselines
from headatlas.stats import bootstrap_mean
from headatlas.suites.suite import Suite
from tests import tiny
from tests.evidence.common import hit, plain, trial, without

SETS = [INTACT, frozenset({(1, 2)}), frozenset({(0, 0), (2, 3)}), INTACT, frozenset({(1, 2)})]


def test_the_empty_set_is_the_intact_model(tmp_path):
    judged = trial(tmp_path)
    for task, outcome in judged.remove("Remove", {"Colours": [INTACT], "Numbers": [INTACT]}).items():
        expected = [plain(judged.work.model, example) for example in judged.work.examples(task, SPLIT)]
        np.testing.assert_allclose(outcome.logprob[0], [scores[0] for scores in expected], atol=1e-5)
        np.testing.assert_array_equal(outcome.hit[0], [hit(scores) for scores in expected])
        assert set(outcome.hit[0]) == {0, 1}


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2"])
@pytest.mark.parametrize("baseline", ["mean", "zero"])
def test_removing_heads_is_gating_them_by_hand(tmp_path, kind, baseline):
    judged = trial(tmp_path, tiny.model(kind), baseline=baseline)
    model = judged.work.model
    outcome = judged.remove("Remove", {"Numbers": SETS})["Numbers"]
    mean = Baselines("mean", judged.work).mean("Numbers") if baseline == "mean" else None
    examples = judged.work.examples("Numbers", SPLIT)
    assert outcome.logprob.shape == outcome.hit.shape == (len(SETS), len(examples))
    for i, heads in enumerate(SETS):
        expected = [without(model, example, heads, mean) for example in examples]
        np.testing.assert_allclose(outcome.logprob[i], [scores[0] for scores in expected], atol=1e-5)
        np.testing.assert_array_equal(outcome.hit[i], [hit(scores) for scores in expected])
    np.testing.assert_array_equal(outcome.logprob[1], outcome.logprob[4])
    assert np.abs(outcome.logprob[1] - outcome.logprob[0]).max() > 0.01


def test_the_mean_is_that_of_the_measured_task_on_fit(tmp_path):
    judged = trial(tmp_path)
    heads = frozenset({(0, 1), (1, 1)})
    found = judged.remove("Remove", {"Colours": [heads], "Numbers": [heads]})
    means = Baselines("mean", judged.work)
    for task, other in (("Colours", "Numbers"), ("Numbers", "Colours")):
        example = judged.work.examples(task, SPLIT)[0]
        model = judged.work.model
        assert found[task].logprob[0, 0] == pytest.approx(without(model, example, heads, means.mean(task))[0], abs=1e-5)
        assert abs(found[task].logprob[0, 0] - without(model, example, heads, means.mean(other))[0]) > 1e-4


@pytest.mark.parametrize("baseline", ["mean", "zero", "resample"])
def test_masks_in_rows_are_masks_one_at_a_time(tmp_path, baseline, monkeypatch):
    judged = trial(tmp_path, baseline=baseline)
    model, sets = judged.work.model, list(dict.fromkeys(SETS))
    for batch in judged.batches("Colours"):
        replacement = judged.baselines.of("Colours", batch)
        gates = gates_without(model.shape, sets)
        monkeypatch.setattr(trial_module, "FORWARD_TOKENS", 10 * batch.ids.numel())
        together = gate_batch(model, batch, gates, replacement)
        for i in range(len(sets)):
            with torch.inference_mode(), model.gate(gates[i], replacement):
                logprobs, greedy = batch.score(model)
            np.testing.assert_allclose(together["logprobs"][i], logprobs, atol=1e-5)
            np.testing.assert_array_equal(together["greedy"][i], greedy)
        monkeypatch.setattr(trial_module, "FORWARD_TOKENS", 1)
        np.testing.assert_allclose(
            gate_batch(model, batch, gates, replacement)["logprobs"], together["logprobs"], atol=1e-5
        )


def test_the_three_baselines_replace_by_different_things(tmp_path):
    heads = frozenset({(1, 2), (2, 1)})
    found = [
        trial(tmp_path / kind, baseline=kind).remove("Remove", {"Colours": [heads]})["Colours"].logprob[0]
        for kind in ("mean", "zero", "resample")
    ]
    for i, one in enumerate(found):
        for other in found[:i]:
            assert np.abs(one - other).max() > 1e-3


def test_gates_are_zero_for_the_removed_heads_alone():
    gates = gates_without((2, 3), [frozenset({(0, 1), (1, 2)}), INTACT])
    assert gates.tolist() == [[[1, 0, 1], [1, 1, 0]], [[1, 1, 1], [1, 1, 1]]]


def test_one_intervention_for_each_example_is_that_intervention_alone(tmp_path):
    judged = trial(tmp_path)
    model, examples = judged.work.model, judged.work.examples("Colours", SPLIT)
    sets = [frozenset({(i % 3, i % 4)}) if i % 3 else INTACT for i in range(len(examples))]
    baseline = torch.randn(*model.shape, model.head_dim, generator=torch.Generator().manual_seed(0))
    found = score_each(model, judged.work.encoder, examples, gates_without(model.shape, sets), baseline)
    expected = [without(model, example, heads, baseline) for example, heads in zip(examples, sets, strict=True)]
    np.testing.assert_allclose(found.logprob, [[scores[0] for scores in expected]], atol=1e-5)
    np.testing.assert_array_equal(found.hit, [[hit(scores) for scores in expected]])


def test_answers_alone_have_the_same_log_probability_and_no_distractor_is_run(tmp_path):
    whole, bare = trial(tmp_path / "a"), trial(tmp_path / "b", answers_only=True)
    sets = [INTACT, frozenset({(1, 2)})]
    one, other = (own.remove("Remove", {"Colours": sets})["Colours"] for own in (whole, bare))
    np.testing.assert_allclose(one.logprob, other.logprob, atol=1e-5)
    assert all(len(batch.owners) == len(batch.members) for batch in bare.batches("Colours"))


def test_changes_are_paired_and_their_interval_holds_the_value():
    rng = np.random.default_rng(0)
    groups = [str(i // 2) for i in range(24)]
    base = rng.normal(-5, 3, size=24)
    worse = base - 0.5 + rng.normal(0, 0.1, size=24)
    hits = (rng.random((2, 24)) < 0.9).astype(float)
    outcome = Outcome(np.stack([base, worse]), hits)
    found = changes(outcome, outcome[:1], groups)
    values, level, low, high = found["logprob"]
    assert level == pytest.approx(base.mean())
    np.testing.assert_allclose(values, [base.mean(), worse.mean()])
    assert (low <= values).all()
    assert (values <= high).all()
    assert low[0] == high[0] == pytest.approx(level)
    assert high[1] < level, "damage, though examples differ far more from each other than it"
    np.testing.assert_allclose([low[1] - level, high[1] - level], bootstrap_mean(worse - base, groups))
    _, share, low, high = found["accuracy"]
    assert share == pytest.approx(hits[0].mean())
    assert ((low >= 0) & (high <= 1)).all()


def test_intervals_of_real_outcomes_hold_their_values(tmp_path):
    judged = trial(tmp_path, suite=tiny.suite(48))
    sets = [INTACT, *(frozenset({head}) for head in judged.work.heads)]
    outcome = judged.remove("Remove", {"Colours": sets})["Colours"]
    values, _, low, high = changes(outcome, outcome[:1], judged.groups("Colours"))["logprob"]
    assert ((low <= values + 1e-9) & (values <= high + 1e-9)).all()
    assert (low[1:] < high[1:]).all()


def test_draws_are_numbered_and_differ_between_numbers_tasks_and_seeds(tmp_path):
    same = np.zeros((3, 4))
    same[0, 1], same[2, 3] = 2, 1
    judged = trial(tmp_path, grids={"Colours": same, "Numbers": same})
    other = trial(tmp_path, grids={"Colours": same, "Numbers": same}, seed=1)
    draws = judged.draws("Colours", 2, 12)
    assert draws == judged.draws("Colours", 2, 12)
    assert len(set(draws)) == len(draws) > 1
    assert draws != judged.draws("Numbers", 2, 12)
    assert draws != other.draws("Colours", 2, 12)
    assert not any(drawn & judged.rankings["Colours"].top(2) for drawn in draws)


def test_the_elbow_is_tested_too_and_no_more_heads_than_were_ranked(tmp_path):
    grid = np.full((3, 4), np.nan)
    grid[0] = 5, 4.9, 4.8, 0.1
    grid[1, 0] = 0.0
    judged = trial(tmp_path, grids={"Colours": grid, "Numbers": np.eye(3, 4)}, ks=(1, 4, 8))
    assert judged.ks("Colours") == [1, 3, 4]


def test_cells_know_the_heads_and_the_baseline(tmp_path):
    wanted = {"Colours": [INTACT, frozenset({(0, 0)})]}
    first = trial(tmp_path)
    first.remove("Remove", wanted)
    again = trial(tmp_path)
    again.remove("Remove", wanted)
    assert not again.work.runner.computed
    for changed in (trial(tmp_path, baseline="zero"), trial(tmp_path, baseline="resample")):
        changed.remove("Remove", wanted)
        assert changed.work.runner.computed
    more = trial(tmp_path)
    more.remove("Remove", {"Colours": [INTACT, frozenset({(0, 1)})]})
    assert more.work.runner.computed


def test_an_example_without_distractors_is_right_where_greedy_decoding_gives_its_answer(tmp_path):
    bare = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in tiny.copying().examples))
    judged = trial(tmp_path, tiny.planted(), bare, grids={t: np.eye(3, 4) for t in ("Colours", "Numbers")})
    helper = frozenset({tiny.HELPERS["Colours"]})
    outcome = judged.remove("Remove", {"Colours": [INTACT, helper]})["Colours"]
    assert outcome.hit[0].mean() == 1
    assert outcome.hit[1].mean() < 0.5
