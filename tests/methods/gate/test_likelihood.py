"""The likelihood of answers under gates: its value, its gradient, its batches, and checkpoints."""

import numpy as np
import pytest
import torch

from headatlas.methods.gate.likelihood import (
    TaskLoss,
    batch_of_step,
    nll_and_gradient,
    task_batches,
    token_counts,
)
from tests import tiny
from tests.run.contexts import run_context


def test_the_loss_is_the_mean_over_answer_tokens_and_its_gradient_is_right(tmp_path):
    context = run_context(tmp_path)
    context.model.module.double()
    batch = task_batches(context, "Numbers", "fit", 100)[0]
    gates = torch.rand(2, *context.model.shape, generator=torch.Generator().manual_seed(0)).double()
    loss = TaskLoss(context.model, [batch], [batch])
    value, gradient = loss.train(gates, 0)
    np.testing.assert_allclose(value, loss.held(gates), atol=1e-9)
    with context.model.gate(gates[1]), torch.no_grad():
        logprobs, _ = batch.score(context.model)
    assert float(value[1]) == pytest.approx(float(-logprobs.sum() / len(batch.targets)), abs=1e-9)
    step = torch.zeros_like(gates)
    step[1, 2, 3] = 3e-3  # log-probabilities are float32
    numeric = (loss.held(gates + step) - loss.held(gates - step)) / 6e-3
    assert abs(float(numeric[1])) > 0.01
    np.testing.assert_allclose(gradient[:, 2, 3] * torch.tensor([0, 1]), numeric, atol=1e-4)


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "gemma2", "bloom"])
def test_checkpointing_changes_no_number_and_leaves_no_trace(tmp_path, kind):
    context = run_context(tmp_path, tiny.model(kind))
    batch = task_batches(context, "Colours", "fit", 4)[0]
    gates = torch.rand(2, *context.model.shape, generator=torch.Generator().manual_seed(0))
    before = [dict(block.__dict__) for block in context.model.layers]
    plain = nll_and_gradient(context.model, batch, gates, lambda sums: sums.mean(1))
    checkpointed = nll_and_gradient(context.model, batch, gates, lambda sums: sums.mean(1), checkpoint=True)
    torch.testing.assert_close(checkpointed[0], plain[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(checkpointed[1], plain[1], atol=1e-5, rtol=1e-4)
    assert float(plain[1].abs().max()) > 1e-4
    assert [dict(block.__dict__) for block in context.model.layers] == before
    assert not context.model.module.training


def test_batches_of_a_task_are_as_equal_as_can_be_and_every_epoch_visits_each_once(tmp_path):
    context = run_context(tmp_path, suite=tiny.suite(60))
    count = len(context.examples("Colours", "fit"))
    batches = task_batches(context, "Colours", "fit", 7)
    sizes = [batch.size for batch in batches]
    assert sum(sizes) == count and max(sizes) <= 7 and max(sizes) - min(sizes) <= 1
    epochs = [[batch_of_step(batches, e * len(batches) + i).key for i in range(len(batches))] for e in range(3)]
    for epoch in epochs:
        assert sorted(epoch) == sorted(batch.key for batch in batches)
    assert epochs[0] != epochs[1] or epochs[1] != epochs[2]


def test_scored_tokens_are_counted_for_every_example(tmp_path):
    context = run_context(tmp_path)
    for batch in task_batches(context, "Numbers", "fit", 5):
        assert token_counts(batch).sum() == len(batch.targets)
        assert token_counts(batch).tolist() == [int((batch.rows == row).sum()) for row in range(batch.size)]
