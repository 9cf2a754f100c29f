"""Chains under a mask, against answering step by step by hand."""

import numpy as np
import pytest
import torch

from headatlas.evidence import hierarchy as hierarchy_module
from headatlas.evidence.chain_steps import take_apart
from headatlas.evidence.choice import INTACT
from headatlas.evidence.hierarchy import STEP_TOKENS, WALK, Hierarchy, walk
from headatlas.intervals import set_interval
from headatlas.run.generation import cut
from headatlas.run.interventions import gates_without
from tests import tiny
from tests.evidence.chains import chain
from tests.evidence.common import gate, hit, make_trial, row, without
from tests.run.reference import encoded, greedy

TASKS = ("Retrieval", "Inference")


CHAINS = [
    step for i in range(5) for step in chain(f"c{i}", ("red", "blue")[i % 2], ("two", "three", "four", "five")[i % 4])
]


def chain_trial(folder, model=None, chains=CHAINS, **settings):
    return make_trial(folder, model, tiny.suite(tasks=TASKS), tasks=TASKS, chains=chains, **settings)


def written(model, prompt: str, gates: torch.Tensor, baseline) -> str:
    """A greedy answer, one forward per token, nothing shared."""
    with model.gate(gates, baseline):
        ids = greedy(model, encoded(prompt), STEP_TOKENS)
    return cut(tiny.tokenizer().decode(ids, skip_special_tokens=True))


def by_hand(model, examples, heads, baseline):
    """Scores of the high-level steps, with the answers of the model in the prompts before them."""
    steps, answers, scores = take_apart(examples)[0], [], []
    for example in steps.examples[:4]:
        prompt = steps.prompt(answers)
        if example.task == "Inference":
            asked = example.model_copy(update={"prompt": prompt})
            scores.append(without(model, asked, heads, baseline))
        answers.append(written(model, prompt, gate(heads), baseline))
    return scores, answers


@pytest.mark.parametrize("masked", [False, True])
def test_a_walk_is_answering_step_by_step_by_hand(tmp_path, masked):
    model = tiny.model(context=512)
    trial = chain_trial(tmp_path, model)
    sets = [INTACT, frozenset({(0, 1), (1, 2)}), frozenset({(2, 0)})] if masked else [INTACT]
    generator = torch.Generator().manual_seed(0)
    baseline = torch.randn(*model.shape, model.head_dim, generator=generator) if masked else None
    examples = chain("c")
    outcome = walk(trial, take_apart(examples)[0], gates_without(model.shape, sets), baseline)
    assert outcome["logprob"].shape == outcome["hit"].shape == (len(sets), 2)
    answers = []
    for i, heads in enumerate(sets):
        scores, texts = by_hand(model, examples, heads, baseline)
        answers.append(tuple(texts))
        np.testing.assert_allclose(outcome["logprob"][i], [options[0] for options in scores], atol=1e-4)
        np.testing.assert_array_equal(outcome["hit"][i], [hit(options) for options in scores])
    assert answers[0][0] != examples[0].answer, "answers must differ from the right ones, or nothing is shown"
    if masked:
        assert len(set(answers)) > 1


def test_the_evidence_is_that_of_walking_every_chain(tmp_path):
    model = tiny.model(context=512)
    trial = chain_trial(tmp_path, model, few_draws=5)
    evidence = Hierarchy().run(trial)
    mean = trial.means.mean("Retrieval")
    sets = [INTACT, trial.rankings["Retrieval"].top(2), *trial.draws("Retrieval", 2, 5)]
    walked = [walk(trial, steps, gates_without(model.shape, sets), mean) for steps in take_apart(CHAINS)]
    logprob = np.concatenate([one["logprob"] for one in walked], axis=1)
    groups = [f"c{i}" for i in range(5) for _ in range(2)]
    top = row(evidence, task="Retrieval", eval_task="Inference", control="top", metric="logprob")
    assert top.value == pytest.approx(logprob[1].mean(), abs=1e-4)
    assert top.intact == pytest.approx(logprob[0].mean(), abs=1e-4)
    assert top.low <= top.value <= top.high
    for draw in range(len(sets) - 2):
        one = row(evidence, task="Retrieval", control="random", metric="logprob", draw=draw)
        assert one.value == pytest.approx(logprob[2 + draw].mean(), abs=1e-4)
    difference = logprob[1] - logprob[2:].mean(0)
    minus = row(evidence, control="top", compared_with="random", metric="logprob")
    assert minus.value == pytest.approx(difference.mean(), abs=1e-4)
    expected = set_interval(logprob[1], logprob[2:], groups)
    np.testing.assert_allclose([minus.low, minus.high], expected, atol=1e-3)
    means = logprob.mean(1)
    assert minus.p_value == pytest.approx((1 + (means[2:] <= means[1]).sum()) / 6)
    assert {one.task for one in evidence} == {"Retrieval"}, "only heads of low-level functions are removed"
    assert {one.eval_task for one in evidence} == {"Inference"}, "only high-level steps are scored"
    assert {one.metric for one in evidence} == {"margin", "logprob", "accuracy"}


def test_with_few_chains_or_draws_no_interval_is_given_and_the_row_says_why(tmp_path):
    few = Hierarchy().run(chain_trial(tmp_path / "a", tiny.model(context=512), CHAINS[:8], few_draws=5))
    assert {(one.low, one.high, one.p_value, one.remark) for one in few} == {
        (None, None, None, f"only {few[0].groups} groups of examples; an interval needs 5")
    }
    assert {one.draw for one in few if one.control == "random"} == {0, 1}, "where nothing can be said, less is run"
    rough = Hierarchy().run(chain_trial(tmp_path / "b", tiny.model(context=512), few_draws=2))
    minus = row(rough, compared_with="random", metric="margin")
    assert (minus.low, minus.remark) == (None, "only 2 sets of heads to compare with; an interval needs 5")
    assert minus.p_value >= 1 / 3
    assert row(rough, control="top", metric="margin").low is not None


def test_masks_do_not_change_what_the_intact_model_scores(tmp_path):
    model = tiny.model(context=512)
    trial = chain_trial(tmp_path, model)
    steps = take_apart(CHAINS)[0]
    alone = walk(trial, steps, torch.ones(1, *model.shape), None)
    masks = torch.cat([torch.zeros(2, *model.shape), torch.ones(1, *model.shape)])
    np.testing.assert_allclose(walk(trial, steps, masks, None)["logprob"][2:], alone["logprob"], atol=1e-4)


def test_zero_is_zero_and_other_baselines_are_means(tmp_path):
    model = tiny.model(context=512)
    zero, resampled, mean = (
        chain_trial(tmp_path / kind, model, baseline=kind) for kind in ("zero", "resample", "mean")
    )
    values = [row(Hierarchy().run(trial), control="top", metric="logprob").value for trial in (zero, resampled, mean)]
    assert values[1] == pytest.approx(values[2], abs=1e-6)
    assert values[0] != pytest.approx(values[2], abs=1e-4)


def test_without_chains_or_low_level_maps_it_is_said_that_there_is_no_test(tmp_path):
    nothing = make_trial(tmp_path, suite=tiny.suite(tasks=TASKS), tasks=TASKS)
    assert Hierarchy().run(nothing) == []
    assert nothing.context.runner.reporter.said == [
        "No test of the hierarchy: there is no chain with high-level steps."
    ]
    other = make_trial(tmp_path, chains=CHAINS)
    assert Hierarchy().run(other) == []
    assert other.context.runner.reporter.said == [
        "No test of the hierarchy: there is no map of a task that the suite calls low-level."
    ]


def test_cells_of_chains_follow_their_steps_their_heads_and_their_version(tmp_path, monkeypatch):
    model = tiny.model(context=512)

    def computed(**changes) -> int:
        trial = chain_trial(tmp_path, model, chain("a") + chain("b", "blue"), few_draws=1, **changes)
        Hierarchy().run(trial)
        return len(trial.context.runner.computed)

    assert computed() == 2 + 2, "one for each chain, and the means of the tasks"
    assert computed() == 0
    assert computed(k=3) == 2
    assert computed(baseline="zero") == 2
    monkeypatch.setattr(hierarchy_module, "WALK", WALK._replace(version=WALK.version + 1))
    assert computed() == 2
