"""The likelihood of answers under gates: its value, its gradient, its batches, and checkpoints."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.methods.gate.likelihood import (
    TaskLoss,
    nll,
    nll_and_gradient,
    portion_of_step,
    task_portions,
    task_quantity,
    whole_portions,
)
from headatlas.model import memory
from headatlas.model.heads import HeadModel
from headatlas.planted import PLANTED
from tests import tiny
from tests.run.contexts import run_context


def portions(context, task, split, size, **how):
    return task_portions(task_quantity(context, task, split, **how), size)


def test_the_loss_is_the_mean_over_answer_tokens_and_its_gradient_is_right(tmp_path):
    context = run_context(tmp_path)
    context.model.module.double()
    portion = portions(context, "Numbers", "fit", 100)[0]
    batch = portion.batch
    gates = torch.rand(2, *context.model.shape, generator=torch.Generator().manual_seed(0)).double()
    loss = TaskLoss([portion], [portion])
    value, gradient = loss.train(lambda _: gates[:, None], 0)
    np.testing.assert_allclose(value, loss.held(gates), atol=1e-9)
    with context.model.gate(gates[1]), torch.no_grad():
        logprobs, _ = batch.score(context.model)
    assert float(value[1]) == pytest.approx(float(-logprobs.sum() / len(batch.targets)), abs=1e-9)
    step = torch.zeros_like(gates)
    step[1, 2, 3] = 3e-3  # log-probabilities are float32
    numeric = (loss.held(gates + step) - loss.held(gates - step)) / 6e-3
    assert abs(float(numeric[1])) > 0.01
    np.testing.assert_allclose(gradient[:, 2, 3] * torch.tensor([0, 1]), numeric, atol=1e-4)


@pytest.mark.parametrize(("kind", "free"), [("llama-grouped", 1000), ("gpt2", None), ("gemma2", None), ("bloom", None)])
def test_checkpointing_changes_no_number_and_leaves_no_trace(tmp_path, monkeypatch, kind, free):
    """Where it is asked for, and where memory is short."""
    context = run_context(tmp_path, tiny.model(kind))
    portion = portions(context, "Colours", "fit", 4)[0]
    size = (2, portion.batch.size, *context.model.shape)
    gates = torch.rand(size, generator=torch.Generator().manual_seed(0))
    before = [dict(block.__dict__) for block in context.model.layers]
    plain = nll_and_gradient(portion, gates, lambda losses: losses.mean(1))
    again, checkpoints = [], HeadModel.checkpointed
    monkeypatch.setattr(HeadModel, "checkpointed", lambda self: again.append(self) or checkpoints(self))
    monkeypatch.setattr(memory, "free_memory", lambda device: free)
    checkpointed = nll_and_gradient(portion, gates, lambda losses: losses.mean(1), checkpoint=free is None)
    assert len(again) == 1
    torch.testing.assert_close(checkpointed[0], plain[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(checkpointed[1], plain[1], atol=1e-5, rtol=1e-4)
    assert float(plain[1].abs().max()) > 1e-4
    assert [dict(block.__dict__) for block in context.model.layers] == before
    assert not context.model.module.training


def test_batches_of_a_task_are_as_equal_as_can_be_and_every_epoch_visits_each_once(tmp_path):
    context = run_context(tmp_path, suite=tiny.suite(60))
    count = len(context.examples("Colours", "fit"))
    batches = [portion.batch for portion in portions(context, "Colours", "fit", 7)]
    sizes = [batch.size for batch in batches]
    assert sum(sizes) == count and max(sizes) <= 7 and max(sizes) - min(sizes) <= 1
    epochs = [[portion_of_step(batches, e * len(batches) + i).key for i in range(len(batches))] for e in range(3)]
    for epoch in epochs:
        assert sorted(epoch) == sorted(batch.key for batch in batches)
    assert epochs[0] != epochs[1] or epochs[1] != epochs[2]


def test_scored_tokens_are_counted_for_every_example(tmp_path):
    context = run_context(tmp_path)
    for portion in portions(context, "Numbers", "fit", 5):
        batch = portion.batch
        assert portion.weights.sum() == len(batch.targets)
        assert portion.weights.tolist() == [int((batch.rows == row).sum()) for row in range(batch.size)]


def test_gates_of_every_example_are_those_of_its_rows(tmp_path):
    """One mask per example gives what the mask alone gives for that example; its gradients add up."""
    context = run_context(tmp_path)
    context.model.module.double()
    portion = portions(context, "Numbers", "fit", 6)[0]
    examples = len(portion.batch.members)
    gates = torch.rand(examples, *context.model.shape, generator=torch.Generator().manual_seed(0)).round().double()
    alone = torch.stack([nll(portion, gates[i : i + 1])[0, i] for i in range(examples)])
    torch.testing.assert_close(nll(portion, gates[None])[0], alone, atol=1e-6, rtol=1e-6)
    value, gradient = nll_and_gradient(portion, gates[None], lambda losses: losses.sum(1))
    assert float(value) == pytest.approx(float(alone.sum()), abs=1e-6)
    each = [
        nll_and_gradient(portion, gates[None, i : i + 1], lambda losses, i=i: losses[:, i]) for i in range(examples)
    ]
    torch.testing.assert_close(gradient, sum(part for _, part in each), atol=1e-6, rtol=1e-6)


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    planted = PLANTED["induction"]
    return run_context(tmp_path_factory.mktemp("twins"), planted.build(0), planted.suite(0))


def test_with_all_gates_closed_on_the_twin_the_model_answers_as_on_the_twin(twins):
    """The margin of the answer over the twin's answer then has the other sign."""
    quantity = task_quantity(twins, "Lookup", "evaluate", "margin", "twin")
    shape = twins.model.shape
    for portion in whole_portions(quantity.only(range(8))):
        with torch.no_grad():
            intact = nll(portion, torch.ones(1, *shape))
            closed = nll(portion, torch.zeros(1, *shape))
            margin = portion.batch.quantity(portion.batch.score(twins.model)[0])
        torch.testing.assert_close(intact[0], torch.log1p(torch.exp(-margin)), atol=1e-5, rtol=1e-5)
        assert portion.weights.tolist() == [1.0] * len(portion.batch.members)
        assert float(intact.mean()) < 0.2 and float(closed.mean()) > 2


def test_what_has_no_twin_is_refused(tmp_path):
    with pytest.raises(HeadAtlasError, match="have a twin that can be aligned, too few for `baseline` 'twin'"):
        task_quantity(run_context(tmp_path), "Colours", "fit", "margin", "twin")
