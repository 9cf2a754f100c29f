"""Contrastive gating on a model with one head for each of two tasks."""

import numpy as np
import pytest
import torch

from headatlas.atlas import EVIDENCE
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods.contrast import Contrast, ContrastLoss
from headatlas.methods.gated_nll import batches_of, mean_nll
from tests.methods import planted_gates

RED, BLUE = (2, 0), (1, 1)
TASKS = {"Red": "red", "Blue": "blue", "Green": "green"}


def work(folder):
    return planted_gates.work(folder, planted_gates.writers(red=(RED, 5.0), blue=(BLUE, 5.0)), TASKS)


@pytest.mark.parametrize(("keep", "forget", "closed"), [("Red", "Blue", BLUE), ("Blue", "Red", RED)])
def test_it_closes_the_head_of_the_forgotten_task_alone(tmp_path, keep, forget, closed):
    job = work(tmp_path)
    method = Contrast(keep=keep, forget=forget, seeds=2)
    maps = method.measure(job).maps
    assert [(m.method, m.measure, m.task, m.seed) for m in maps] == [("contrast", "gate", keep, s) for s in (0, 1)]
    for found in maps:
        gates = dict(zip(found.heads, found.summary.mean, strict=True))
        assert gates[closed] < 0.1
        assert min(value for head, value in gates.items() if head != closed) > 0.9
    rows = {(r["eval_task"], r["control"], r["draw"]): r for r in method.damage(job)}
    assert set(rows) == {(t, c, s) for t in TASKS for c in ("soft", "binary") for s in (0, 1)}
    for row in rows.values():
        assert set(row) == set(EVIDENCE.names)
        assert row["low"] <= row["value"] + 1e-9 and row["value"] <= row["high"] + 1e-9
        change = row["value"] - row["baseline"]
        assert row["k"] == 1
        assert change > 0.5 if row["eval_task"] == keep else True
        assert change < -1 if row["eval_task"] == forget else True


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
