import numpy as np
import pytest
import torch

from headatlas.methods.ablate import ablate_batch
from headatlas.methods.attribute import Attribute, attribute_batch
from headatlas.run.baselines import Baselines
from tests import tiny
from tests.methods.common import work


@pytest.mark.parametrize("baseline", ["zero", "mean", "resample"])
def test_where_heads_are_faint_attribution_is_the_ablation_effect(tmp_path, baseline):
    """To first order both are the same number; heads a thousand times fainter leave nothing but the first order."""
    model = tiny.model("gpt2")
    with torch.no_grad():
        for layer in range(model.n_layers):
            model.out_weight(layer).mul_(1e-3)
    model.module.double()
    job = work(tmp_path, model)
    batch = job.batches("Colours", "fit")[0]
    replacement = Baselines(baseline, job).of("Colours", batch)
    estimated = attribute_batch(model, batch, replacement)["effects"]
    exact = ablate_batch(model, batch, job.heads, replacement)["effects"]
    assert np.abs(exact).max() > 1e-6
    np.testing.assert_allclose(estimated, exact, atol=0.03 * np.abs(exact).max())
    assert np.corrcoef(estimated.ravel(), exact.ravel())[0, 1] > 0.999


def test_it_is_gradient_times_activation_summed_over_positions(tmp_path):
    job = work(tmp_path)
    batch = job.batches("Numbers", "fit")[0]
    with job.model.capture(grad=True) as z:
        logprobs, _ = batch.score(job.model)
    gradients = torch.autograd.grad(logprobs.sum(), [z[layer] for layer in range(3)])
    expected = torch.stack([(z[layer] * gradients[layer]).sum((1, 3)) for layer in range(3)], 1)
    np.testing.assert_allclose(
        attribute_batch(job.model, batch, None)["effects"], expected.detach().flatten(1), atol=1e-5
    )


def test_every_head_has_an_error_and_a_p_value_from_the_fit_split(tmp_path):
    job = work(tmp_path)
    maps = Attribute().measure(job).maps
    assert [found.task for found in maps] == ["Colours", "Numbers"]
    for found in maps:
        assert found.heads == job.heads
        assert found.summary.groups == len(set(job.groups(found.task, "fit")))
        assert ((found.summary.p_value >= 0) & (found.summary.p_value <= 1)).all()
        assert (found.summary.stderr > 0).all()


def test_the_mean_baseline_is_the_mean_over_real_positions(tmp_path):
    job = work(tmp_path)
    total, count = torch.zeros(job.model.n_heads, job.model.head_dim), 0
    for batch in job.batches("Colours", "fit"):
        for row in range(batch.size):  # one example alone has no padding
            with torch.no_grad(), job.model.capture() as z:
                job.model.logits(batch.ids[row : row + 1, : batch.lengths[row]])
            total += z[1][0].sum(0)
            count += z[1].shape[1]
    mean = Baselines("mean", job).of("Colours", job.batches("Colours", "choose")[0])
    torch.testing.assert_close(mean[1], total / count, atol=1e-5, rtol=1e-4)


def test_the_resampled_values_are_those_of_a_fit_example_lined_up_at_the_end(tmp_path):
    job = work(tmp_path)
    batch = job.batches("Colours", "choose")[0]
    donated = Baselines("resample", job).of("Colours", batch)
    ends = []
    for fit in job.batches("Colours", "fit"):
        for row in range(fit.size):
            with torch.no_grad(), job.model.capture() as z:
                job.model.logits(fit.ids[row : row + 1, : fit.lengths[row]])
            ends.append(z[2][0, -1])
    for row in range(batch.size):
        last = donated[2][row, batch.lengths[row] - 1]
        assert min((last - end).abs().max() for end in ends) < 1e-5


def test_no_example_is_replaced_by_itself(tmp_path):
    """On `fit` donors and examples are the same ones; a head replaced by itself would seem to do nothing."""
    job = work(tmp_path)
    for batch in job.batches("Colours", "fit"):
        donated = Baselines("resample", job).of("Colours", batch)
        with torch.no_grad(), job.model.capture() as z:
            job.model.logits(batch.ids)
        for row in range(batch.size):
            last = batch.lengths[row] - 1
            assert (donated[2][row, last] - z[2][row, last]).abs().max() > 1e-3
