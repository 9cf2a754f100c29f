"""Planted models are ordinary models with ordinary tasks."""

import pytest
import torch
from transformers import GPT2LMHeadModel, LlamaForCausalLM

import headatlas as ha
from headatlas.planted import PLANTED
from headatlas.planted.folder import save
from headatlas.planted.words import WORDS, prompt_ids, tokenizer


@pytest.mark.parametrize("name", list(PLANTED))
def test_a_seed_is_one_model_and_one_suite(name):
    planted = PLANTED[name]
    first, again, other = planted.draw(0).module, planted.draw(0).module, planted.draw(1).module
    assert isinstance(first, GPT2LMHeadModel | LlamaForCausalLM)
    weights = [torch.cat([weight.flatten() for weight in module.parameters()]) for module in (first, again, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.allclose(weights[0], weights[2], atol=0.1)
    assert planted.suite(0).fingerprint == planted.suite(0).fingerprint != planted.suite(1).fingerprint


@pytest.mark.parametrize("name", list(PLANTED))
def test_tasks_have_twins_groups_and_several_templates(name):
    suite = PLANTED[name].suite(0)
    for task in suite.tasks:
        examples = suite.of(task)
        assert len({example.template for example in examples}) >= 2
        assert len({example.group for example in examples}) > 40
        for example in examples:
            twin = example.counterfactual
            assert twin is not None and twin.answer in example.distractors
            assert len(twin.prompt.split()) == len(example.prompt.split())
            assert set(example.prompt.split()) <= set(WORDS)
    assert all(part.examples for part in suite.split().values())


def test_llama_has_grouped_queries_and_shares_keys_between_planted_heads():
    canvas = PLANTED["shared"].draw(0)
    assert (canvas.heads, canvas.kv_heads) == (8, 4)
    assert canvas.key((1, 4)).data_ptr() == canvas.key((1, 5)).data_ptr()


@pytest.mark.parametrize(("name", "head"), [("induction", (0, 2)), ("retrieval", (0, 5)), ("saturated", (0, 1))])
def test_previous_token_heads_look_back(name, head):
    """With learned positions and with rotary ones."""
    model, (layer, number) = PLANTED[name].build(0), head
    prompts, _ = prompt_ids([PLANTED[name].suite(0).examples[0].prompt])
    weights = model.attention(prompts)[layer][0, number]
    assert weights.diagonal(-1).min() > 0.6
    assert weights.diagonal(-1)[1:].mean() > 0.75


def test_the_saturated_model_does_not_notice_that_all_heads_are_scaled():
    planted = PLANTED["saturated"]
    model, prompts = planted.build(0), prompt_ids([e.prompt for e in planted.suite(0).examples[:20]])
    with torch.no_grad():
        intact = model.logits(prompts[0])[range(20), prompts[1]].argmax(-1)
        with model.gate(torch.full(model.shape, 0.02)):
            scaled = model.logits(prompts[0])[range(20), prompts[1]].argmax(-1)
    assert torch.equal(intact, scaled)


def test_texts_become_words():
    assert tokenizer()("ann red")["input_ids"] == [WORDS.index(word) for word in ("<begin>", "ann", "red")]
    assert tokenizer()("ann nobody")["input_ids"][-1] == WORDS.index("<unknown>")


def test_a_planted_model_is_saved_as_a_folder_with_tasks_and_truth(tmp_path):
    planted = PLANTED["loud"]
    folder = save(planted, tmp_path / "loud", seed=2)
    loaded, suite = ha.load(folder), ha.load_suite(folder / "tasks.jsonl")
    assert [e.prompt for e in suite.examples] == [e.prompt for e in planted.suite(2).examples]
    assert (folder / "truth.csv").read_text() == planted.truth(2).to_csv()
    prompts, _ = prompt_ids([suite.examples[0].prompt])
    torch.testing.assert_close(loaded.logits(prompts), planted.build(2).logits(prompts))
    assert loaded.tokenizer(suite.examples[0].prompt)["input_ids"] == prompts[0].tolist()
