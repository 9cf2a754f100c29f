"""What half precision adds to effects: measured against float32, and the model is left as it was."""

import numpy as np
import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import HeadModel
from headatlas.model.precision import in_float32
from headatlas.run.ablation import ablate_each
from headatlas.run.quantity import plan_quantity
from headatlas.run.rounding import rounding_noise
from tests import tiny
from tests.run.contexts import run_context


def half(dtype=torch.bfloat16) -> HeadModel:
    return HeadModel(tiny.module().to(dtype), tiny.tokenizer(), name="tiny")


def test_float32_has_no_rounding_to_measure(tmp_path):
    context = run_context(tmp_path)
    assert rounding_noise(context) is None
    assert not context.runner.computed


def test_rounding_is_the_difference_to_float32_and_leaves_the_same_bits(tmp_path):
    model = half()
    before = {name: tensor.clone() for name, tensor in model.module.state_dict().items()}
    buffers = {name: tensor.clone() for name, tensor in model.module.named_buffers()}
    context = run_context(tmp_path, model)
    noise = rounding_noise(context)
    for name, tensor in model.module.state_dict().items():
        assert tensor.dtype == before[name].dtype and torch.equal(tensor, before[name])
    for name, tensor in model.module.named_buffers():
        assert tensor.dtype == buffers[name].dtype and torch.equal(tensor, buffers[name])
    # The same by another way: a model that was loaded in float32 from these weights.
    precise = tiny.model()
    precise.module.load_state_dict(before)
    differences = []
    for task in context.tasks:
        quantity = plan_quantity(context, task, ("fit",), None, "zero").only(range(8))
        for batch in quantity.batches(512):
            units = [(layer, (layer,)) for layer in range(3)]
            differences.append(*(ablate_each(m, batch, units, None) for m in (model,)))
            differences[-1] = differences[-1] - ablate_each(precise, batch, units, None)
    assert noise == pytest.approx(np.sqrt(np.square(np.concatenate(differences)).mean()), rel=0.2)
    assert noise > 1e-3
    again = rounding_noise(run_context(tmp_path, model))
    assert again == noise


def test_the_model_is_restored_where_something_goes_wrong():
    model = half(torch.float16)
    with pytest.raises(KeyError), in_float32(model):
        assert model.dtype == torch.float32
        raise KeyError
    assert model.dtype == torch.float16


def test_a_model_that_is_not_in_memory_is_not_measured_and_it_is_said(tmp_path, monkeypatch):
    context = run_context(tmp_path, half())

    def refuse(model):
        raise HeadAtlasError("Weights of tiny are not in memory, so it cannot run in float32.")

    monkeypatch.setattr("headatlas.run.rounding.in_float32", refuse)
    assert rounding_noise(context) is None
    said = context.runner.reporter.said[0]
    assert said.startswith("What rounding adds could not be measured: rounding of Colours (")
    assert "Weights of tiny are not in memory" in said
