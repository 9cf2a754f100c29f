"""What a plan says of memory, against what torch really holds."""

from dataclasses import replace

import pytest
import torch

from headatlas.model.memory import Load, held_bytes
from headatlas.model.outline import read_outline
from headatlas.model.sizes import sizes
from headatlas.run.batches import make_batches
from headatlas.run.encoding import Option
from headatlas.run.interventions import gate_gradient
from tests import tiny
from tests.model.test_sizes import SHAPES


def held_by_torch(model, prefix=0):
    """Bytes that a backward of 8 texts of 32 tokens holds, with what replaces heads, and the load that it is."""
    # The last of three layers is a third of them; that it may be run at fewer positions does not count in large models.
    model.sharing = replace(model.sharing, last_layer=False)
    held, storages = [], {}
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.module.parameters()}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            storages[storage.data_ptr()] = storage.nbytes()
            held.append(tensor)  # so that no address is used again
        return tensor

    batch = make_batches([[Option(tuple(range(1, 34 + prefix)), 32 + prefix)]] * 8, 1000)[0]
    past, rest = model.record_prefix(batch.ids[:, :prefix]), batch.after(prefix)
    twin = {
        layer: torch.randn(8, 32, model.n_heads, model.head_dim, dtype=model.dtype) for layer in range(model.n_layers)
    }
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        gate_gradient(model, rest, twin, past=past)
    return sum(storages.values()), Load(rest.ids.numel(), past=8 * prefix, replaced=model.n_layers, backward=True)


def planned(model, load):
    """What is held over all layers; the one that is worked on is not among it."""
    size = sizes(model)
    return held_bytes(size, load) - held_bytes(size, replace(load, backward=False, replaced=0, past=0))


@pytest.mark.parametrize("kind", tiny.FAMILIES)
def test_what_is_held_for_a_backward(kind):
    model = tiny.model(kind)
    held, load = held_by_torch(model)
    assert 0.5 < planned(model, load) / held < 2


@pytest.mark.parametrize(("prefix", "dtype"), [(0, torch.float32), (16, torch.float32), (0, torch.bfloat16)])
def test_the_terms_of_llama_are_those_of_torch(prefix, dtype):
    model = tiny.model("llama-grouped")
    model.module.to(dtype)
    held, load = held_by_torch(model, prefix)
    assert 0.85 < planned(model, load) / held < 1.15


def test_a_checkpoint_holds_the_inputs_of_layers_and_one_layer():
    size = sizes(read_outline(SHAPES["70B"], dtype="bfloat16"))
    load = Load(512, replaced=80, backward=True)
    whole, less = held_bytes(size, load), held_bytes(size, load, checkpoint=True)
    replaced = 512 * 80 * 8192 * 2
    inputs = 512 * 80 * 8192 * 2
    assert less - replaced - inputs < 1.2e9 < 10e9 < whole
    assert held_bytes(size, replace(load, backward=False), checkpoint=True) < less


def test_every_part_of_a_load_takes_memory():
    size, load = sizes(tiny.model()), Load(100)
    more = [
        replace(load, tokens=200), replace(load, copies=2), replace(load, places=10), replace(load, past=50),
        replace(load, recorded=1), replace(load, replaced=1), replace(load, backward=True),
    ]  # fmt: skip
    assert all(held_bytes(size, other) > held_bytes(size, load) for other in more)
    recorded = held_bytes(size, replace(load, recorded=3)) - held_bytes(size, load)
    assert recorded == 100 * 3 * 32 * 4  # tokens, layers, width, bytes
