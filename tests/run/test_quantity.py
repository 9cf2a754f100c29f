"""Margins, and heads that are interchanged with those of the twin: against the slow and obvious way."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.methods.effects import single_heads
from headatlas.progress import Reporter
from headatlas.run import interventions
from headatlas.run.ablation import ablate_each, ablate_own
from headatlas.run.alignment import NONE
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.interventions import gate_gradient
from headatlas.run.quantity import plan_quantity
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny


def twin_suite(count: int = 36, missing: int = 0, longer: int = 0) -> Suite:
    """The tiny suite with a twin for every example but the first `missing`; the first `longer` twins are longer."""
    examples = []
    for i, e in enumerate(tiny.suite(count).examples):
        within_task = i % count
        prompt = e.prompt.replace("item", "box in the" if within_task < longer else "key")
        foil = " yellow" if within_task % 4 == 0 else e.distractors[0]  # of several tokens, and of one
        twin = None if within_task < missing else {"prompt": prompt, "answer": foil}
        examples.append(Example.model_validate({**e.model_dump(), "counterfactual": twin}))
    return Suite("twins", tuple(examples))


def context(folder, suite: Suite | None = None, kind: str = "llama-grouped") -> RunContext:
    model = tiny.model(kind)
    return RunContext(model, (suite or twin_suite()).split(), Runner(folder, Reporter(quiet=True)), Encoder(model))


@torch.no_grad()
def margin(model, prompt: list[int], answer: list[int], foil: list[int], head=None, donor=None, aligned=None) -> float:
    """log p(answer) - log p(foil), each by itself; z of one head replaced position by position by that of the donor."""
    scores = []
    for option in (answer, foil):
        ids = torch.tensor([[*prompt, *option[:-1]]])
        if head is None:
            logits = model.logits(ids)
        else:
            layer, number = head
            with model.capture() as captured:
                model.logits(torch.tensor([[*donor, *option[:-1]]]))
            z = captured[layer][0, :, number]
            with model.capture() as captured:
                model.logits(ids)
            new = captured[layer].clone()
            positions = [*aligned, *range(len(donor), len(donor) + len(option) - 1)]
            for i, j in enumerate(positions):
                if j != NONE:
                    new[0, i, number] = z[j]
            with model.patch({layer: new}):
                logits = model.logits(ids)
        logprobs = logits[0].log_softmax(-1)
        scores.append(sum(logprobs[len(prompt) - 1 + i, token].item() for i, token in enumerate(option)))
    return scores[0] - scores[1]


def parts(item):
    start = item.options[0].start
    prompt = list(item.options[0].tokens[:start])
    return prompt, list(item.options[0].tokens[start:]), list(item.options[1].tokens[start:])


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "bloom", "gemma2"])
def test_the_effect_is_what_the_margin_loses_with_the_head_of_the_twin(tmp_path, kind):
    """Also for answers of several tokens and for twins of another length, whether or not forwards share positions."""
    quantity = plan_quantity(context(tmp_path, twin_suite(longer=4), kind), "Colours", ("choose",))
    assert (quantity.metric, quantity.baseline, quantity.left_out) == ("margin", "twin", 0)
    model, heads = quantity.context.model, [(0, 1), (1, 3), (2, 0)]
    assert any(len(item.twin) != len(item.aligned) for item in quantity.items)
    assert any(len(option.tokens) - option.start > 1 for item in quantity.items for option in item.options)
    batches = [(batch, 0) for batch in quantity.batches(512)]
    batches += [(batch, quantity.prefix(batch)) for batch in quantity.batches(60)]
    assert model.sharing.prefix and any(prefix > 0 for _, prefix in batches)
    for batch, prefix in batches:
        past = model.record_prefix(batch.ids[:, :prefix])
        replaced = quantity.replacement(batch, past)
        effects = ablate_each(model, batch.after(prefix), single_heads(heads), replaced.values, replaced.where, past)
        for number, member in enumerate(batch.members):
            item = quantity.items[member]
            prompt, answer, foil = parts(item)
            intact = margin(model, prompt, answer, foil)
            for column, head in enumerate(heads):
                without = margin(model, prompt, answer, foil, head, item.twin, item.aligned)
                assert effects[number, column] == pytest.approx(intact - without, abs=2e-4)


@pytest.mark.parametrize("room", [1, 3, 1000])
@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "bloom", "gemma2", "falcon"])
def test_units_that_each_example_has_of_its_own_lose_what_they_lose_in_all_examples(tmp_path, kind, room, monkeypatch):
    """Some examples have many units, some none of a layer, and one has a group of heads."""
    quantity = plan_quantity(context(tmp_path, twin_suite(longer=4), kind), "Colours", ("choose",))
    model, heads = quantity.context.model, single_heads(quantity.context.heads)
    units = [*heads, (1, (0, 1))]
    batches = [(batch, 0) for batch in quantity.batches(512)] + [(b, quantity.prefix(b)) for b in quantity.batches(60)]
    assert any(prefix > 0 for _, prefix in batches) and any(len(batch.members) > 2 for batch, _ in batches)
    for batch, prefix in batches:
        past, rest = model.record_prefix(batch.ids[:, :prefix]), batch.after(prefix)
        replaced = quantity.replacement(batch, past)
        every = ablate_each(model, rest, units, replaced.values, replaced.where, past)
        chosen = [[(5 * number + 3 * i) % len(units) for i in range(1 + number % 4)] for number in range(len(every))]
        chosen[-1] = [len(units) - 1, 0]
        monkeypatch.setattr(interventions, "FORWARD_TOKENS", room * rest.ids.numel() // len(every))
        own = ablate_own(
            model, rest, [[units[i] for i in some] for some in chosen], replaced.values, replaced.where, past
        )
        monkeypatch.undo()
        expected = [every[number, i] for number, some in enumerate(chosen) for i in some]
        assert np.abs(expected).max() > 1e-3
        np.testing.assert_allclose(own, expected, atol=2e-5)


@pytest.mark.parametrize("baseline", ["mean", "zero", "resample"])
def test_units_of_their_own_are_replaced_by_whatever_replaces_them(tmp_path, baseline):
    quantity = plan_quantity(context(tmp_path), "Colours", ("choose",), baseline=baseline)
    model, units = quantity.context.model, single_heads(quantity.context.heads)
    batch = quantity.batches(512)[0]
    replaced = quantity.replacement(batch)
    every = ablate_each(model, batch, units, replaced.values)
    own = ablate_own(model, batch, [[units[i % len(units)]] for i in range(len(every))], replaced.values)
    np.testing.assert_allclose(own, [row[i % len(units)] for i, row in enumerate(every)], atol=2e-5)


def test_where_heads_are_faint_attribution_is_the_effect(tmp_path):
    quantity = plan_quantity(context(tmp_path), "Colours", ("choose",))
    model = quantity.context.model
    with torch.no_grad():
        for projection in model.out_projections:
            projection.weight.mul_(0.01)
    heads = list(quantity.context.heads)
    batch = quantity.batches(512)[0]
    replaced = quantity.replacement(batch)
    exact = ablate_each(model, batch, single_heads(heads), replaced.values, replaced.where)
    estimated = gate_gradient(model, batch, replaced.values, replaced.where)
    assert abs(exact).max() > 1e-4
    assert estimated == pytest.approx(exact, abs=0.02 * abs(exact).max())


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "bloom", "gemma2", "falcon"])
def test_attribution_is_the_same_after_a_shared_prefix(tmp_path, kind):
    """Before the twin differs nothing is replaced, so that part need not be differentiated."""
    quantity = plan_quantity(context(tmp_path, twin_suite(longer=4), kind), "Colours", ("choose",))
    model, seen, largest = quantity.context.model, 0, 0.0
    for batch in quantity.batches(60):
        whole = quantity.replacement(batch)
        expected = gate_gradient(model, batch, whole.values, whole.where)
        prefix = quantity.prefix(batch)
        past = model.record_prefix(batch.ids[:, :prefix])
        rest = quantity.replacement(batch, past)
        estimated = gate_gradient(model, batch.after(prefix), rest.values, rest.where, past)
        assert estimated == pytest.approx(expected, abs=1e-4)
        seen, largest = seen + (prefix > 0), max(largest, abs(expected).max())
    assert seen and largest > 1e-3


def test_the_mirror_is_the_same_contrast_on_the_prompt_of_the_twin(tmp_path):
    quantity = plan_quantity(context(tmp_path), "Colours", ("choose",))
    mirrored = quantity.mirrored()
    for item, mirror in zip(quantity.items, mirrored.items, strict=True):
        prompt, answer, foil = parts(item)
        assert parts(mirror) == (list(item.twin), answer, foil)
        assert list(mirror.twin) == prompt


def test_the_baseline_follows_from_what_the_examples_have(tmp_path):
    kinds = {}
    for missing in (0, 1, 12):
        quantity = plan_quantity(context(tmp_path, twin_suite(missing=missing)), "Colours", ("fit",))
        kinds[missing] = quantity.baseline
    assert kinds[0] == "twin"
    assert kinds[12] in ("pair", "mean"), "a third has no twin"
    assert plan_quantity(context(tmp_path, tiny.suite()), "Colours", ("fit",)).metric == "margin"
    bare = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in tiny.suite().examples))
    alone = plan_quantity(context(tmp_path, bare), "Colours", ("fit",), baseline="mean")
    assert alone.metric == "logprob"


def test_without_twins_the_margin_is_over_all_distractors_together(tmp_path):
    job = context(tmp_path, tiny.suite())
    quantity = plan_quantity(job, "Colours", ("choose",), baseline="zero")
    batch = quantity.batches(512)[0]
    with torch.no_grad():
        logprobs, _ = batch.score(job.model)
        values = batch.quantity(logprobs)
    for number in range(len(batch.members)):
        options = [logprobs[i].item() for i in (batch.owners == number).nonzero().flatten()]
        expected = options[0] - torch.tensor(options[1:]).logsumexp(0).item()
        assert values[number].item() == pytest.approx(expected, abs=1e-6)
    assert len(quantity.items[0].options) == 3


def nested_suite(count: int = 36, nested: int = 1) -> Suite:
    """The suite with twins, where the answers of the first twins of every task begin with the answer."""
    examples = []
    for i, example in enumerate(twin_suite(count).examples):
        twin = example.counterfactual.model_copy(update={"answer": f"{example.answer}ish"})
        examples.append(example.model_copy(update={"counterfactual": twin}) if i % count < nested else example)
    return Suite("nested", tuple(examples))


def test_a_twin_whose_answer_begins_with_the_answer_is_left_out_of_margins(tmp_path):
    job = context(tmp_path, nested_suite(nested=36))
    with pytest.raises(HeadAtlasError, match="Only 0 of"):
        plan_quantity(job, "Colours", ("fit",), baseline="twin")
    assert plan_quantity(job, "Colours", ("fit",), "logprob", "twin").left_out == 0, "no answer is compared"
    some = context(tmp_path, nested_suite(nested=2))
    left_out = {split: plan_quantity(some, "Colours", (split,), baseline="twin").left_out for split in some.splits}
    assert sum(left_out.values()) == 2


def test_what_cannot_be_compared_is_refused(tmp_path):
    bare = Suite("bare", tuple(e.model_copy(update={"distractors": ()}) for e in tiny.suite().examples))
    with pytest.raises(HeadAtlasError, match="margin of 'Colours' was asked for, but example .* has no distractors"):
        plan_quantity(context(tmp_path, bare), "Colours", ("fit",), "margin", "mean")
    with pytest.raises(HeadAtlasError, match="Only 0 of .* can be aligned, too few for `baseline` 'twin'"):
        plan_quantity(context(tmp_path, tiny.suite()), "Colours", ("fit",), baseline="twin")
    with pytest.raises(HeadAtlasError, match="Only a twin can gain from a head"):
        plan_quantity(context(tmp_path, tiny.suite()), "Colours", ("fit",), baseline="mean").mirrored()


def test_padding_and_the_rest_of_the_batch_do_not_change_an_effect(tmp_path):
    quantity = plan_quantity(context(tmp_path), "Colours", ("choose",))
    units = [(1, (2,))]
    together = {}
    for batch in quantity.batches(512):
        replaced = quantity.replacement(batch)
        effects = ablate_each(quantity.context.model, batch, units, replaced.values, replaced.where)
        together |= dict(zip(batch.members, effects[:, 0], strict=True))
    for i in range(0, len(quantity.items), 3):
        alone = quantity.only([i])
        (batch,) = alone.batches(512)
        replaced = alone.replacement(batch)
        effect = ablate_each(alone.context.model, batch, units, replaced.values, replaced.where)[0, 0]
        assert effect == pytest.approx(together[i], abs=1e-5)


def test_twins_are_run_only_as_far_as_their_heads_are_wanted(tmp_path):
    job = context(tmp_path)
    quantity = plan_quantity(job, "Colours", ("choose",))
    batch, ran = quantity.batches(192)[0], []
    handles = [
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
        for number, layer in enumerate(job.model.layers)
    ]
    whole = quantity.replacement(batch)
    ran.clear()
    low = quantity.replacement(batch, layers={0, 1})
    for handle in handles:
        handle.remove()
    assert ran == [0], "z of layer 1 is there before its out-projection, so only layer 0 is run to its end"
    assert sorted(low.values) == [0, 1]
    assert all(torch.equal(low.values[layer], whole.values[layer]) for layer in low.values)
