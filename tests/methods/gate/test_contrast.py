"""Contrastive gating on a model with one head for each of two tasks."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.gate.contrast import Contrast
from headatlas.methods.gate.contrast_fit import ContrastLoss
from headatlas.methods.gate.likelihood import mean_nll, task_portions, task_quantity
from tests.methods.gate import planted_gates

RED, BLUE = (2, 0), (1, 1)
TASKS = {"Red": "red", "Blue": "blue", "Green": "green"}


def two_heads(folder):
    return planted_gates.planted_context(folder, planted_gates.writers(red=(RED, 5.0), blue=(BLUE, 5.0)), TASKS)


def fit_portions(context, size):
    return [task_portions(task_quantity(context, task, "fit"), size) for task in ("Red", "Blue")]


def intact_nll(context, task):
    with torch.inference_mode():
        return -np.mean(
            [value for batch in context.batches(task, "evaluate") for value in batch.score(context.model)[0]]
        )


@pytest.mark.parametrize(("keep", "forget", "closed"), [("Red", "Blue", BLUE), ("Blue", "Red", RED)])
def test_it_closes_the_head_of_the_forgotten_task_alone(tmp_path, keep, forget, closed):
    context = two_heads(tmp_path)
    method = Contrast(keep=keep, forget=forget, seeds=2)
    measured = method.measure(context)
    maps = measured.maps
    assert [(m.method, m.measure, m.task, m.seed) for m in maps] == [("contrast", "gate", keep, s) for s in (0, 1)]
    for head_map in maps:
        gates = dict(zip(head_map.heads, head_map.summary.mean, strict=True))
        assert gates[closed] < 0.1
        assert min(value for head, value in gates.items() if head != closed) > 0.9
    assert [row.value for row in measured.diagnostics if row.metric == "closed"] == [1, 1]
    changes = {(r.task, r.metric, r.seed): r for r in measured.diagnostics if r.metric.endswith("change")}
    assert set(changes) == {(t, f"{c} change", s) for t in TASKS for c in ("soft", "binary") for s in (0, 1)}
    for (task, _, _), row in changes.items():
        assert row.low <= row.value + 1e-9 and row.value <= row.high + 1e-9
        assert row.value > 0.5 if task == keep else True
        assert row.value < -1 if task == forget else True
    before = next(r.value for r in measured.diagnostics if r.metric == "intact logprob" and r.task == forget)
    assert before == pytest.approx(-float(intact_nll(context, forget)), abs=1e-5)


def test_what_is_forgotten_is_bounded_by_the_margin_and_by_a_uniform_guess(tmp_path):
    context = two_heads(tmp_path)
    batches = fit_portions(context, 16)
    intact = float(mean_nll(batches[1], torch.ones(1, *context.model.shape)))
    assert ContrastLoss(batches, batches, 1.5).ceiling == pytest.approx(intact + 1.5)
    assert ContrastLoss(batches, batches, 50.0).ceiling == pytest.approx(np.log(400))
    near = ContrastLoss(batches, batches, 1e-9)
    gates = torch.ones(1, *context.model.shape, dtype=torch.float64)
    gates[0, BLUE[0], BLUE[1]] = 0  # beyond the ceiling: nothing is left to gain there
    value, _ = near.train(lambda _: gates[:, None], 0)
    assert float(value) == pytest.approx(float(mean_nll(batches[0][:1], gates)), abs=1e-4)
    assert float(near.held(gates)) == pytest.approx(float(mean_nll(batches[0], gates)), abs=1e-6)


def test_the_ceiling_is_that_of_the_intact_model_whatever_the_gates_of_the_first_step(tmp_path):
    """The first step asks for it while the model is gated, with batches of other sizes than those it is taken from."""
    context = two_heads(tmp_path)
    data = fit_portions(context, 4)
    assert len({part.batch.size for part in data[1]} | {part.batch.ids.shape[1] for part in data[1]}) > 1
    intact = float(mean_nll(data[1], torch.ones(1, *context.model.shape)))
    loss = ContrastLoss(data, data, 1.5)
    loss.train(lambda _: torch.full((2, 1, *context.model.shape), 0.2, dtype=torch.float64), 0)
    assert loss.ceiling == pytest.approx(intact + 1.5)


def test_what_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(UsageError, match="needs two tasks, the settings keep and forget"):
        Contrast(keep="Red")
    with pytest.raises(UsageError, match="'Red' was asked to be kept and forgotten"):
        Contrast(keep="Red", forget="Red")
    with pytest.raises(UsageError, match="penalty = -1 was given; a contrast leaves heads open"):
        Contrast(keep="Red", forget="Blue", penalty=-1)
    with pytest.raises(UsageError, match="A margin of 0 nats"):
        Contrast(keep="Red", forget="Blue", margin=0)
    with pytest.raises(HeadAtlasError, match=r"Unknown task 'Blu'. Did you mean 'Blue'\?"):
        Contrast(keep="Red", forget="Blu").measure(two_heads(tmp_path))
