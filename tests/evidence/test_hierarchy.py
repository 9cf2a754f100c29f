"""Chains under a mask, against answering step by step by hand."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.evidence.hierarchy import STEP_TOKENS, hierarchy, take_apart, walk
from headatlas.evidence.mask import INTACT
from headatlas.evidence.trial import gates_without
from headatlas.run.generation import _line_ends, cut
from headatlas.stats import bootstrap_mean
from headatlas.suites import load_suite
from headatlas.suites.example import Example
from tests import tiny
from tests.evidence.common import gate, hit, row, tokens, trial, without

TASKS = ("Retrieval", "Inference")


def chain(name: str, first: str = "red", number: str = "two") -> list[Example]:
    """Retrieval, Inference, Retrieval, Inference and one more Retrieval that nothing builds on."""
    parts = [
        ("Retrieval", f"the {first} box is", f" {first}", (" green",)),
        ("Inference", f" and the {number} is", f" {number}", (" one", " nine")),
        ("Retrieval", "\nthe key is in the", " box", ()),
        ("Inference", " and the sum is", " three", (" five", " one")),
        ("Retrieval", " and", " the", ()),
    ]
    examples, text = [], ""
    for step, (task, question, answer, distractors) in enumerate(parts):
        examples.append(
            Example(
                id=f"{name}-{step}", task=task, prompt=text + question, answer=answer, distractors=distractors,
                group=name, chain=name, step=step,
            )
        )  # fmt: skip
        text += question + answer
    return examples


CHAINS = [
    step for i in range(4) for step in chain(f"c{i}", ("red", "blue")[i % 2], ("two", "three", "four", "five")[i])
]


def judge(folder, model=None, **settings):
    return trial(folder, model, tiny.suite(tasks=TASKS), tasks=TASKS, chains=CHAINS, **settings)


# Taking chains apart


def test_the_prompts_of_a_chain_are_rejoined_from_its_answers():
    (steps,) = take_apart(reversed(chain("c")))
    assert [example.step for example in steps.examples] == [0, 1, 2, 3, 4]
    answers = [example.answer for example in steps.examples]
    for number, example in enumerate(steps.examples):
        assert steps.prompt(answers[:number]) == example.prompt
    assert steps.prompt([" blue", " nine"]) == "the red box is blue and the two is nine\nthe key is in the"


def test_the_built_in_chains_come_apart_and_together():
    apart = take_apart(load_suite("chains").examples)
    assert len(apart) == 200
    for steps in apart:
        answers = [example.answer for example in steps.examples]
        assert [steps.prompt(answers[:i]) for i in range(len(answers))] == [e.prompt for e in steps.examples]


def test_chains_come_in_the_order_of_their_names_and_single_examples_are_no_chain():
    apart = take_apart([*chain("b"), *tiny.suite().examples, *chain("a")])
    assert [steps.examples[0].chain for steps in apart] == ["a", "b"]


def test_a_missing_step_is_named():
    broken = [example for example in chain("c") if example.step != 1]
    with pytest.raises(HeadAtlasError, match=r"^Chain 'c' has the steps 0, 2, 3, 4: step 1 is missing. Steps count"):
        take_apart(broken)


def test_a_step_that_stands_there_twice_is_named():
    steps = chain("c")
    twice = [*steps, steps[2].model_copy(update={"id": "again"})]
    with pytest.raises(HeadAtlasError, match=r"^Chain 'c' has the steps 0, 1, 2, 2, 3, 4: a step stands there twice"):
        take_apart(twice)


def test_a_prompt_that_does_not_go_on_where_the_one_before_ended_is_named():
    steps = chain("c")
    steps[2] = steps[2].model_copy(update={"prompt": "something else"})
    with pytest.raises(HeadAtlasError, match="Chain 'c': the prompt of step 2 does not begin with the prompt and the"):
        take_apart(steps)


# Walking through them


@torch.no_grad()
def written(model, prompt: str, gates: torch.Tensor, baseline) -> str:
    """A greedy answer, one forward a token, nothing shared."""
    ids, made, ends = tokens(prompt), [], set(_line_ends(model.tokenizer))
    with model.gate(gates, baseline):
        while len(made) < STEP_TOKENS:
            logits = model.module(input_ids=torch.tensor([ids + made]), use_cache=False).logits[0, -1]
            if not made:
                logits[sorted(ends)] = -torch.inf
            made.append(int(logits.argmax()))
            if made[-1] in ends:
                break
    return cut(tiny.tokenizer().decode(made, skip_special_tokens=True))


def by_hand(model, examples, heads, baseline):
    """Scores of the high-level steps, the model's own answers before them."""
    apart, own, scores = take_apart(examples)[0], [], []
    for example in apart.examples[:4]:
        prompt = apart.prompt(own)
        if example.task == "Inference":
            asked = example.model_copy(update={"prompt": prompt})
            scores.append(without(model, asked, heads, baseline))
        own.append(written(model, prompt, gate(heads), baseline))
    return scores, own


@pytest.mark.parametrize("masked", [False, True])
def test_a_walk_is_answering_step_by_step_by_hand(tmp_path, masked):
    model = tiny.model(context=512)
    judged = judge(tmp_path, model)
    sets = [INTACT, frozenset({(0, 1), (1, 2)}), frozenset({(2, 0)})] if masked else [INTACT]
    generator = torch.Generator().manual_seed(0)
    baseline = torch.randn(*model.shape, model.head_dim, generator=generator) if masked else None
    examples = chain("c")
    found = walk(judged, take_apart(examples)[0], gates_without(model.shape, sets), baseline)
    assert found["logprob"].shape == found["hit"].shape == (len(sets), 2)
    answers = []
    for i, heads in enumerate(sets):
        scores, own = by_hand(model, examples, heads, baseline)
        answers.append(tuple(own))
        np.testing.assert_allclose(found["logprob"][i], [options[0] for options in scores], atol=1e-4)
        np.testing.assert_array_equal(found["hit"][i], [hit(options) for options in scores])
    assert answers[0][0] != examples[0].answer, "own answers must differ from the right ones, or nothing is shown"
    if masked:
        assert len(set(answers)) > 1


def test_the_evidence_is_that_of_walking_every_chain(tmp_path):
    model = tiny.model(context=512)
    judged = judge(tmp_path, model)
    found = hierarchy(judged)
    mean = judged.means.mean("Retrieval")
    sets = [INTACT, judged.rankings["Retrieval"].top(2), *judged.draws("Retrieval", 2, 3)]
    walked = [walk(judged, steps, gates_without(model.shape, sets), mean) for steps in take_apart(CHAINS)]
    logprob = np.concatenate([one["logprob"] for one in walked], axis=1)
    groups = [f"c{i}" for i in range(4) for _ in range(2)]
    top = row(found, task="Retrieval", eval_task="Inference", control="top", metric="logprob")
    assert top.value == pytest.approx(logprob[1].mean(), abs=1e-4)
    assert top.baseline == pytest.approx(logprob[0].mean(), abs=1e-4)
    assert top.low <= top.value <= top.high
    for draw in range(len(sets) - 2):
        one = row(found, task="Retrieval", control="random", metric="logprob", draw=draw)
        assert one.value == pytest.approx(logprob[2 + draw].mean(), abs=1e-4)
    difference = logprob[1] - logprob[2:].mean(0)
    minus = row(found, control="top minus random", metric="logprob")
    assert minus.value == pytest.approx(difference.mean(), abs=1e-4)
    np.testing.assert_allclose([minus.low, minus.high], bootstrap_mean(difference, groups), atol=1e-3)
    assert {one.task for one in found} == {"Retrieval"}, "only heads of low-level functions are removed"
    assert {one.eval_task for one in found} == {"Inference"}, "only high-level steps are scored"
    assert {one.metric for one in found} == {"logprob", "accuracy"}


def test_masks_do_not_change_what_the_intact_model_scores(tmp_path):
    model = tiny.model(context=512)
    judged = judge(tmp_path, model)
    steps = take_apart(CHAINS)[0]
    alone = walk(judged, steps, torch.ones(1, *model.shape), None)
    company = torch.cat([torch.zeros(2, *model.shape), torch.ones(1, *model.shape)])
    np.testing.assert_allclose(walk(judged, steps, company, None)["logprob"][2:], alone["logprob"], atol=1e-4)


def test_zero_is_zero_and_other_baselines_are_means(tmp_path):
    model = tiny.model(context=512)
    zero, resampled, mean = (judge(tmp_path / kind, model, baseline=kind) for kind in ("zero", "resample", "mean"))
    values = [row(hierarchy(judged), control="top", metric="logprob").value for judged in (zero, resampled, mean)]
    assert values[1] == pytest.approx(values[2], abs=1e-6)
    assert values[0] != pytest.approx(values[2], abs=1e-4)


def test_without_chains_or_low_level_maps_it_is_said_that_there_is_no_test(tmp_path):
    nothing = trial(tmp_path, suite=tiny.suite(tasks=TASKS), tasks=TASKS)
    assert hierarchy(nothing) == []
    assert any("chains with high-level steps" in text for text in nothing.work.runner.reporter.said)
    other = trial(tmp_path, chains=CHAINS)
    assert hierarchy(other) == []
    assert any("no map of Retrieval, Knowledge Recall" in text for text in other.work.runner.reporter.said)
