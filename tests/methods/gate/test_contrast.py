"""Contrastive gating on a model with one head for each of two tasks."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.gate.contrast import Contrast, ContrastLoss
from headatlas.methods.gate.likelihood import batches_of, mean_nll
from tests.methods.gate import planted_gates

RED, BLUE = (2, 0), (1, 1)
TASKS = {"Red": "red", "Blue": "blue", "Green": "green"}


def work(folder):
    return planted_gates.work(folder, planted_gates.writers(red=(RED, 5.0), blue=(BLUE, 5.0)), TASKS)


def intact_nll(job, task):
    with torch.inference_mode():
        return -np.mean([value for batch in job.batches(task, "evaluate") for value in batch.score(job.model)[0]])


@pytest.mark.parametrize(("keep", "forget", "closed"), [("Red", "Blue", BLUE), ("Blue", "Red", RED)])
def test_it_closes_the_head_of_the_forgotten_task_alone(tmp_path, keep, forget, closed):
    job = work(tmp_path)
    method = Contrast(keep=keep, forget=forget, seeds=2)
    measured = method.measure(job)
    maps = measured.maps
    assert [(m.method, m.measure, m.task, m.seed) for m in maps] == [("contrast", "gate", keep, s) for s in (0, 1)]
    for found in maps:
        gates = dict(zip(found.heads, found.summary.mean, strict=True))
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
    assert before == pytest.approx(-float(intact_nll(job, forget)), abs=1e-5)


def test_what_is_forgotten_is_bounded_by_the_margin_and_by_a_uniform_guess(tmp_path):
    job = work(tmp_path)
    batches = [batches_of(job, task, "fit", 16) for task in ("Red", "Blue")]
    intact = float(mean_nll(job.model, batches[1], torch.ones(1, *job.model.shape)))
    assert ContrastLoss(job.model, batches, batches, 1.5).ceiling == pytest.approx(intact + 1.5)
    assert ContrastLoss(job.model, batches, batches, 50.0).ceiling == pytest.approx(np.log(400))
    near = ContrastLoss(job.model, batches, batches, 1e-9)
    gates = torch.ones(1, *job.model.shape, dtype=torch.float64)
    gates[0, BLUE[0], BLUE[1]] = 0  # beyond the ceiling: nothing is left to gain there
    value, _ = near.train(gates, 0)
    assert float(value) == pytest.approx(float(mean_nll(job.model, batches[0][:1], gates)), abs=1e-4)
    assert float(near.held(gates)) == pytest.approx(float(mean_nll(job.model, batches[0], gates)), abs=1e-6)


def test_what_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(UsageError, match="'Red' was asked to be kept and forgotten"):
        Contrast(keep="Red", forget="Red")
    with pytest.raises(UsageError, match="lambda = -1 was given; a contrast leaves heads open"):
        Contrast(keep="Red", forget="Blue", strength=-1)
    with pytest.raises(UsageError, match="A margin of 0 nats"):
        Contrast(keep="Red", forget="Blue", margin=0)
    with pytest.raises(HeadAtlasError, match=r"Unknown task 'Blu'. Did you mean 'Blue'\?"):
        Contrast(keep="Red", forget="Blu").measure(work(tmp_path))
