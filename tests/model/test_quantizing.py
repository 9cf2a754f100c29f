"""Weights of 8 and 4 bits: the seam computes what it computes with the numbers that they stand for."""

import importlib.util

import numpy as np
import pytest
import torch
from torch import nn

from headatlas.errors import HeadAtlasError
from headatlas.model.loading import load
from headatlas.model.outline import read_outline
from headatlas.model.partial import LayerInputs
from headatlas.model.quantizing import quantization, unpacked
from headatlas.model.sizes import sizes
from headatlas.progress import Reporter
from headatlas.run.batches import make_batches
from headatlas.run.encoding import Option
from headatlas.run.interventions import gate_gradient
from headatlas.run.pairs import both_ways, one_way
from headatlas.use.edit import edit
from headatlas.workflows.held_out import model_of
from headatlas.workflows.map import map_heads
from tests import tiny
from tests.run.contexts import opposite_sides

QUIET = Reporter(quiet=True)
IDS = torch.randint(3, tiny.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(1))
# With 8 bits what enters a matrix is rounded too, to 1 in 127 of the largest entry of its row.
TOLERANCE = {8: 0.1, 4: 1e-4}
packed = pytest.mark.skipif(importlib.util.find_spec("bitsandbytes") is None, reason="needs bitsandbytes")


@pytest.fixture(scope="module", params=[8, 4])
def both(request, tiny_folder):
    """A packed model, and a plain one with the numbers that its weights stand for."""
    model, plain = load(tiny_folder, quantize=request.param, device="cpu", reporter=QUIET), tiny.model()
    parts = dict(model.module.named_modules())
    for name, module in plain.module.named_modules():
        if isinstance(module, nn.Linear):
            module.weight.data = unpacked(parts[name], torch.float32)
    return model, plain


def close(bits, found, expected):
    assert float((found - expected).abs().max()) < TOLERANCE[bits] * float(expected.std())


@packed
def test_with_nothing_gated_the_logits_are_the_same_bits_and_no_weight_changes(both, tiny_folder):
    model, plain = both
    with torch.no_grad():
        expected = model.module(IDS, use_cache=False).logits
        assert torch.equal(model.logits(IDS), expected)
        with model.gate(torch.ones(model.shape)), model.capture():
            assert torch.equal(model.logits(IDS), expected)
        close(model.quantized, expected, plain.logits(IDS))
        assert not torch.equal(tiny.model().logits(IDS), expected)
    assert (
        model.fingerprint() == load(tiny_folder, quantize=model.quantized, device="cpu", reporter=QUIET).fingerprint()
    )


@packed
def test_a_head_that_is_removed_or_replaced_is_one_of_the_unpacked_model(both):
    model, plain = both
    gates = torch.ones(model.shape)
    gates[1, 1] = 0
    with torch.no_grad():
        with plain.gate(gates), model.gate(gates):
            close(model.quantized, model.logits(IDS), plain.logits(IDS))
        with plain.capture() as z:
            intact = plain.logits(IDS)
        with plain.patch({1: 2 * z[1]}), model.patch({1: 2 * z[1]}):
            close(model.quantized, model.logits(IDS), plain.logits(IDS))
        with plain.gate(gates):
            assert float((plain.logits(IDS) - intact).abs().max()) > 5 * TOLERANCE[4]


@packed
def test_heads_add_up_to_what_the_projection_writes(both):
    model, _ = both
    written = []
    handle = model.out_projections[1].register_forward_hook(lambda *given: written.append(given[2]))
    with torch.no_grad(), model.capture() as z:
        model.logits(IDS)
    handle.remove()
    weight = model.out_weight(1)
    assert weight.shape == (4, 8, 32) and weight.is_floating_point()
    total = sum(z[1][:, :, head] @ weight[head] for head in range(4))
    close(model.quantized, total, written[0])


@packed
def test_gradients_are_those_of_the_unpacked_model(both):
    batch = make_batches([[Option(tuple(range(1, 12)), 10)]] * 2)[0]
    found, expected = (gate_gradient(model, batch, None) for model in both)
    assert np.abs(found - expected).max() < 3 * TOLERANCE[both[0].quantized] * expected.std()
    found, expected = (np.stack(both_ways(model, *opposite_sides(), LayerInputs())) for model in both)
    assert np.abs(found - expected).max() < 3 * TOLERANCE[both[0].quantized] * expected.std()
    assert found[0].tobytes() == one_way(both[0], opposite_sides()[0], LayerInputs()).tobytes()


@packed
def test_the_plan_counts_what_is_loaded(both, tiny_folder):
    model = both[0]
    planned, loaded = sizes(read_outline(tiny_folder, quantize=model.quantized)), sizes(model)
    assert planned == loaded
    assert loaded.parameters == sizes(tiny.model()).parameters
    stored = sum(tensor.nbytes for tensor in model.module.state_dict().values())
    assert loaded.weights == pytest.approx(stored, rel=0.06)  # besides tables of a few bytes for each matrix
    assert loaded.weights < sizes(tiny.model()).weights


@packed
def test_the_number_of_bits_is_part_of_what_was_mapped(both, tiny_folder, tmp_path):
    model = both[0]
    plain, again = (load(tiny_folder, quantize=bits, device="cpu", reporter=QUIET) for bits in (None, model.quantized))
    assert model.fingerprint() == again.fingerprint() != plain.fingerprint()
    atlas = map_heads(
        tiny_folder, tiny.suite(), ["attention"], at_chance=True, out=tmp_path / "atlas", report=False, reporter=QUIET,
        load_options={"quantize": model.quantized, "device": "cpu"},
    )  # fmt: skip
    assert atlas.run.model.quantized == model.quantized and atlas.run.model.fingerprint == model.fingerprint()
    assert model_of(atlas, None, {}, QUIET).quantized == model.quantized  # loaded as it was
    with pytest.raises(HeadAtlasError, match=f"cannot be edited: .* are packed into {model.quantized} bits"):
        edit(tmp_path / "edited", model=model, mask="L1H1", cost=False, reporter=QUIET)
    assert not (tmp_path / "edited").exists()


def test_what_is_missing_or_unknown_is_said(monkeypatch, tiny_folder):
    with pytest.raises(HeadAtlasError, match="Unknown number of bits for `quantize` '3'"):
        quantization(3, torch.float32)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(HeadAtlasError, match=r"bitsandbytes is not installed: pip install headatlas\[quantize\]"):
        load(tiny_folder, quantize=4, reporter=QUIET)


def test_a_plan_needs_no_library():
    configuration = tiny.configs()["llama-grouped"]
    plain, eight, four = (sizes(read_outline(configuration, quantize=bits)) for bits in (None, 8, 4))
    assert plain.parameters == eight.parameters == four.parameters
    packed_numbers = plain.matrices
    assert plain.weights - eight.weights == pytest.approx(3 * packed_numbers, rel=0.05)
    assert plain.weights - four.weights == pytest.approx((3.5 - 1 / 16) * packed_numbers, rel=0.01)
