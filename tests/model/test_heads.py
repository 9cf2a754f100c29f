"""The seam, on a small random model of every family."""

import copy
import functools

import numpy as np
import pytest
import torch
from torch import nn

from headatlas.errors import HeadAtlasError
from headatlas.model.families import FAMILIES, Family, alias, family_of, register_family
from headatlas.model.forwards import position_wise
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.model.partial import LayerInputs
from headatlas.progress import Reporter
from headatlas.run.batches import make_batches
from headatlas.run.encoding import Option
from headatlas.run.interventions import gate_gradient
from headatlas.run.pairs import both_ways, one_way
from tests import tiny
from tests.run.contexts import opposite_sides

IDS = torch.randint(3, tiny.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(1))
EXPERTS = ("mixtral", "qwen2_moe", "qwen3_moe")
# Bits are compared between identical calls only. Anything else is rounded differently on some processor or layout of
# memory: logits of about 3 then differ by about 1e-6.
close = functools.partial(torch.testing.assert_close, atol=1e-5, rtol=1e-5)


@pytest.fixture(scope="module", params=tiny.FAMILIES)
def model(request):
    return tiny.model(request.param)


def hook_count(module: nn.Module) -> int:
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    return sum(len(getattr(part, kind)) for part in module.modules() for kind in kinds)


def own_forwards(module: nn.Module) -> int:
    return sum("forward" in part.__dict__ for part in module.modules())


@torch.no_grad()
def test_nothing_gated_gives_the_same_bits(model):
    plain = model.module(input_ids=IDS, use_cache=False).logits  # the call that `logits` makes, with nothing added
    baseline = torch.randn(*model.shape, model.head_dim)
    with model.capture(), model.gate(torch.ones(model.shape)), model.gate(torch.ones(2, *model.shape), baseline):
        watched = model.logits(IDS)
    assert torch.equal(plain, watched)
    close(model.module(input_ids=IDS).logits, plain)


@torch.no_grad()
def test_a_gate_of_one_that_needs_a_gradient_changes_no_bit_of_z(model):
    """Such gates touch every layer; what enters a gate and what leaves it are read in the same forward."""
    plain = model.logits(IDS)
    baseline = torch.randn(*model.shape, model.head_dim)
    gates = torch.ones(2, *model.shape, requires_grad=True)
    with torch.enable_grad(), model.capture() as entering, model.gate(gates, baseline), model.capture() as leaving:
        touched = model.logits(IDS)
    for layer in range(model.n_layers):
        assert leaving[layer].requires_grad
        assert torch.equal(entering[layer], leaving[layer])
    close(touched, plain)


@torch.no_grad()
def test_heads_sum_to_the_attention_output(model):
    """Places: every head's own write, summed, and the bias give what the out-projection gives."""
    for layer in range(model.n_layers):
        projection = model.out_projections[layer]
        outputs = []
        handle = projection.register_forward_hook(lambda *args, outputs=outputs: outputs.append(args[2]))
        with model.capture() as z:
            model.logits(IDS)
        handle.remove()
        written = torch.einsum("bphd,hdm->bpm", z[layer], model.out_weight(layer))
        if projection.bias is not None:
            written = written + projection.bias
        assert z[layer].shape == (2, 9, model.n_heads, model.head_dim)
        close(written, outputs[0])


@torch.no_grad()
def test_gating_a_head_to_zero_is_zeroing_its_columns(model):
    plain = model.logits(IDS)
    for layer, head in ((0, 0), (1, 2), (2, model.n_heads - 1)):
        gates = torch.ones(model.shape)
        gates[layer, head] = 0
        with model.gate(gates):
            gated = model.logits(IDS)
        weight = model.out_weight(layer)  # a view of the parameter
        kept = weight[head].clone()
        weight[head] = 0
        edited = model.logits(IDS)
        weight[head] = kept
        close(gated, edited)
        assert (gated - plain).abs().max() > 1e-3, "the head must matter, or this test could not fail"


@torch.no_grad()
def test_rows_carry_their_own_gates(model):
    gates = torch.ones(2, *model.shape)
    gates[0, 1, 1] = 0
    gates[1, 2, 0] = 0.5
    with model.gate(gates):
        together = model.logits(IDS)
    for row in range(2):
        with model.gate(gates[row]):
            alone = model.logits(IDS)
        close(together[row], alone[row])


@torch.no_grad()
def test_patching_with_its_own_values_changes_nothing_and_with_others_replaces_them(model):
    with model.capture() as z:
        plain = model.logits(IDS)
    with model.patch(dict(z)), model.capture() as patched_z:
        same = model.logits(IDS)
    assert all(torch.equal(z[layer], patched_z[layer]) for layer in range(model.n_layers))
    close(same, plain)
    mask = torch.zeros(model.shape, dtype=torch.bool)
    mask[1, 2] = True
    with model.patch({1: torch.zeros(model.head_dim)}, mask):
        patched = model.logits(IDS)
    with model.gate(1 - mask.float()):
        gated = model.logits(IDS)
    close(patched, gated)
    assert (patched - plain).abs().max() > 1e-3


@torch.no_grad()
def test_adding_to_z_is_patching_with_the_sum(model):
    with model.capture() as z:
        plain = model.logits(IDS)
    generator = torch.Generator().manual_seed(2)
    for shape in ((2, 9, model.n_heads, model.head_dim), (model.n_heads, model.head_dim), (2, 1, 1, 1)):
        extra = torch.randn(shape, generator=generator)
        with model.add({1: extra}):
            pushed = model.logits(IDS)
        with model.patch({1: z[1] + extra}):
            patched = model.logits(IDS)
        close(pushed, patched)
        assert (pushed - plain).abs().max() > 1e-3
    with model.add({0: torch.zeros(model.head_dim), 2: torch.zeros(model.head_dim)}):
        close(model.logits(IDS), plain)


@torch.no_grad()
def test_what_is_added_reaches_only_its_row_and_what_follows_its_position(model):
    extra = torch.zeros(2, 9, model.n_heads, model.head_dim)
    extra[1, 5, 2] = 1.0
    plain = model.logits(IDS)
    with model.add({1: extra}):
        pushed = model.logits(IDS)
    changed = (pushed - plain).abs().amax(-1) > 1e-5
    assert not changed[0].any()
    assert not changed[1, :5].any()
    assert changed[1, 5]


def test_gradients_flow_to_gates_and_to_z(model):
    """d/dg at g = 1 is the sum of z . d/dz, and both agree with a finite difference in float64.

    Norms that compute in float32 all the same round the loss by about 1e-6, which a small step makes large. Routers of
    experts jump, so there the step must be small.
    """
    exact = copy.deepcopy(model.module).double()
    exact.config._experts_implementation = "eager"  # the fused one has no float64
    model = HeadModel(exact)
    gates = torch.ones(2, *model.shape, dtype=torch.float64, requires_grad=True)
    with model.gate(gates), model.capture(grad=True) as z:
        loss = model.logits(IDS).logsumexp(-1).sum()
    by_gate, by_z = torch.autograd.grad(loss, [gates, z[1]])
    torch.testing.assert_close(by_gate[:, 1], (z[1] * by_z).sum((1, 3)), atol=1e-5, rtol=1e-4)
    size, tolerance = (1e-4, 0.01) if model.model_type in EXPERTS else (3e-3, 0.001)
    step = torch.zeros(model.shape, dtype=torch.float64)
    step[1, 2] = size
    ends = []
    for sign in (1, -1):
        with torch.no_grad(), model.gate(1 + sign * step):
            ends.append(model.logits(IDS).logsumexp(-1).sum())
    numeric = (ends[0] - ends[1]) / (2 * size)
    assert numeric.item() == pytest.approx(by_gate[:, 1, 2].sum().item(), abs=tolerance)
    assert by_gate[:, 1].abs().max() > 10 * tolerance


@torch.no_grad()
def test_starting_at_a_layer_gives_the_same_logits(model):
    with model.record_inputs() as inputs:
        plain = model.logits(IDS)
    for layer in range(model.n_layers):
        with model.start_at(layer, inputs):
            resumed = model.logits(IDS)
        close(resumed, plain)
    with model.start_at(2, inputs, copies=3):
        copied = model.logits(IDS.repeat(3, 1))
    close(copied, plain.repeat(3, 1, 1))


@torch.no_grad()
def test_starting_after_a_prefix_gives_the_logits_of_the_rest(model):
    plain = model.logits(IDS)
    for prefix in (1, 5):
        with model.record_inputs(model.record_prefix(IDS[:, :prefix])) as inputs:
            recorded = model.logits(IDS[:, prefix:])
        close(recorded, plain[:, prefix:])
        for layer in range(model.n_layers):
            with model.start_at(layer, inputs, copies=2):
                resumed = model.logits(IDS[:, prefix:].repeat(2, 1))
            close(resumed, plain[:, prefix:].repeat(2, 1, 1))
    torch.testing.assert_close(model.logits(IDS), plain, rtol=0, atol=0)  # nothing is left of it


@torch.no_grad()
def test_the_prefix_really_is_not_run_again(model):
    lengths = []
    past = model.record_prefix(IDS[:, :5])
    with model.continue_after(past), model.capture(reduce=lambda _, z: lengths.append(z.shape[1])):
        rest = model.logits(IDS[:, 5:])
    close(rest, model.logits(IDS)[:, 5:])
    assert set(lengths) == {IDS.shape[1] - 5}


@torch.no_grad()
def test_the_layers_below_really_are_skipped(model):
    with model.record_inputs() as inputs:
        model.logits(IDS)
    other = torch.randint(3, tiny.VOCABULARY, IDS.shape)
    with model.start_at(2, inputs):
        resumed = model.logits(other)
    close(resumed, model.logits(IDS))


@torch.no_grad()
def test_only_the_wanted_logits_are_computed(model):
    rows, positions = torch.tensor([0, 1, 1]), torch.tensor([8, 2, 5])
    full = model.logits(IDS)
    with model.only_logits(rows, positions):
        picked = model.logits(IDS)
    assert picked.shape == (3, full.shape[-1])
    close(picked, full[rows, positions])


@torch.no_grad()
def test_logits_of_single_tokens_are_those_of_a_whole_forward(model):
    full, before = model.logits(IDS), own_forwards(model.module)
    whole, single = torch.tensor([[1, 4], [0, 2]]), torch.tensor([[0, 8, 3], [1, 2, 17], [1, 2, 3]])
    at, of_tokens = model.some_logits(IDS, whole, single)
    close(at, full[whole[:, 0], whole[:, 1]])
    close(of_tokens, full[tuple(single.T)])
    alone, nothing = model.some_logits(IDS, whole, single[:0])
    close(alone, at)
    assert nothing.shape == (0,) and model.some_logits(IDS, whole[:0], single)[0].shape[0] == 0
    assert own_forwards(model.module) == before


@torch.no_grad()
def test_hooks_are_gone_afterwards_even_after_an_exception(model):
    before = hook_count(model.module), own_forwards(model.module)
    with model.record_inputs() as inputs:
        model.logits(IDS)
    everything = [
        model.capture(),
        model.gate(torch.zeros(model.shape)),
        model.patch({0: torch.zeros(model.head_dim)}),
        model.add({0: torch.ones(model.head_dim)}),
        model.only_logits(torch.tensor([0]), torch.tensor([0])),
        model.record_inputs(),
        model.continue_after(model.record_prefix(IDS[:, :2])),
        model.start_at(2, inputs),
    ]
    for context in everything:
        with pytest.raises(RuntimeError, match="stop"), context:
            model.logits(IDS)
            raise RuntimeError("stop")
    assert (hook_count(model.module), own_forwards(model.module)) == before


@torch.no_grad()
def test_capture_can_reduce_while_it_runs(model):
    with model.capture(layers=[1], reduce=lambda layer, z: z.sum((0, 1))) as sums:
        model.logits(IDS)
    assert list(sums) == [1]
    assert sums[1].shape == (model.n_heads, model.head_dim)


def test_gates_of_the_wrong_shape_are_refused():
    model = tiny.model()
    with (
        pytest.raises(HeadAtlasError, match=r"Gates of shape \(4, 3\) were given; tiny-llama-grouped takes \(3, 4\)"),
        model.gate(torch.ones(4, 3)),
    ):
        pass


def test_an_unknown_architecture_says_how_to_register_it():
    module = tiny.module()
    module.config.model_type = "neverheard"
    with pytest.raises(HeadAtlasError, match=r"'neverheard' is not known.*register_family\('neverheard'"):
        HeadModel(module)
    register_family("neverheard", Family("model.layers", "self_attn.o_proj"))
    try:
        assert HeadModel(module).shape == (3, 4)
        register_family("neverheard", Family("model.layers", "self_attn.mixer"))
        with pytest.raises(HeadAtlasError, match=r"no 'self_attn.mixer' \(missing: 'mixer'\)"):
            HeadModel(module)
        register_family("neverheard", Family("model.layers", "mlp.down_proj"))
        with pytest.raises(HeadAtlasError, match="reads 48 values, but 4 heads of 8 make 32"):
            HeadModel(module)
    finally:
        del FAMILIES["neverheard"]


@torch.no_grad()
def test_logits_of_what_leaves_the_last_layer(model):
    with model.record_inputs(layers=[model.n_layers]) as inputs:
        expected = model.logits(IDS)
    assert list(inputs.hidden) == [model.n_layers]
    leaving = inputs.hidden[model.n_layers]
    close(model.logits_from(leaving.flatten(0, 1)), expected.flatten(0, 1))
    read = model.normed(leaving[0])
    assert read.shape == (IDS.shape[1], model.d_model)
    assert hook_count(model.module) == own_forwards(model.module) == 0


@torch.no_grad()
def test_values_of_single_tokens(model):
    """In the first layer they are z of texts of one token; in others z where the layers below do nothing."""
    tokens = IDS[0]
    with model.capture() as z, model.record_inputs() as inputs:
        model.logits(tokens[:, None])
    close(model.embed(tokens), inputs.hidden[0][:, 0])
    close(model.values(0, tokens), z[0][:, 0])
    inputs.hidden[2] = inputs.hidden[0]
    with model.start_at(2, inputs), model.capture() as late:
        model.logits(tokens[:, None])
    close(model.values(2, tokens), late[2][:, 0])
    assert hook_count(model.module) == own_forwards(model.module) == 0


@torch.no_grad()
def test_families_say_whether_heads_are_added_directly(model):
    """Without MLPs, what leaves the last layer lacks exactly what a head of it would have written."""
    bare = copy.deepcopy(model)
    for layer, projection in zip(bare.layers, bare.out_projections, strict=True):
        for part in position_wise(layer, projection)[1:]:
            for weight in part.parameters():
                weight.zero_()
    end, gates = bare.n_layers, torch.ones(bare.shape)
    last = end - 1
    gates[last, 1] = 0
    with bare.capture() as z, bare.record_inputs(layers=[end]) as whole:
        bare.logits(IDS)
    with bare.gate(gates), bare.record_inputs(layers=[end]) as without:
        bare.logits(IDS)
    written = z[last][:, :, 1] @ bare.out_weight(last)[1]
    missing = whole.hidden[end] - without.hidden[end]
    assert torch.allclose(missing, written, atol=1e-4) == model.adds_directly


def test_an_alias_shares_a_layout():
    alias("yi", like="llama")
    try:
        config = tiny.configs()["llama"]
        config.model_type = "yi"
        assert family_of(config) is FAMILIES["llama"]
    finally:
        del FAMILIES["yi"]
    with pytest.raises(HeadAtlasError, match="Did you mean 'llama'"):
        alias("yi", like="lama")


def test_the_fingerprint_knows_every_weight():
    one, same, other = tiny.model(), tiny.model(), tiny.model(seed=1)
    assert one.fingerprint() == same.fingerprint() != other.fingerprint()
    weights, fingerprints = dict(same.module.named_parameters()), {one.fingerprint()}
    for weight in weights.values():
        with torch.no_grad():
            weight.view(-1)[-1] += 1e-3
        fingerprints.add(same.fingerprint())
    assert len(fingerprints) == 1 + len(weights)


def test_weights_that_are_not_finite_are_refused():
    model = tiny.model()
    with torch.no_grad():
        model.out_projections[1].weight[0, 0] = float("nan")
    with pytest.raises(HeadAtlasError, match=r"'model.layers.1.self_attn.o_proj.weight' of .* holds NaN"):
        model.fingerprint()


SPLIT = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.layers.1": "disk", "model.layers.2": "disk",
         "model.norm": "cpu", "model.rotary_emb": "cpu", "lm_head": "cpu"}  # fmt: skip


def dispatched(folder, where):
    """In main memory or on disk, from where accelerate brings weights when they are needed."""
    from accelerate import cpu_offload

    if where == "main memory":
        return HeadModel(cpu_offload(tiny.module(), execution_device=torch.device("cpu")), tiny.tokenizer())
    device_map = SPLIT if where == "partly on disk" else {"": where}
    return load(folder, device_map=device_map, reporter=Reporter(quiet=True))


@pytest.mark.parametrize("where", ["cpu", "main memory", "disk", "partly on disk"])
def test_a_model_dispatched_by_accelerate_works_without_being_moved(tiny_folder, where):
    """Weights that are offloaded live on the meta device between calls."""
    plain, offloaded = tiny.model(), dispatched(tiny_folder, where)
    assert offloaded.module.model.layers[1].mlp.up_proj.weight.is_meta is (where != "cpu")
    assert offloaded.fingerprint() == plain.fingerprint()
    gates = torch.ones(plain.shape)
    gates[1, 1] = 0
    with torch.no_grad():
        expected = plain.logits(IDS)
        assert torch.equal(offloaded.logits(IDS), expected)
        with plain.gate(gates), offloaded.gate(gates):
            close(offloaded.logits(IDS), plain.logits(IDS))
        with plain.capture() as z, offloaded.capture() as read:
            plain.logits(IDS), offloaded.logits(IDS)
        close(read[1], z[1])
        with plain.patch({1: 2 * z[1]}), offloaded.patch({1: 2 * z[1]}):
            close(offloaded.logits(IDS), plain.logits(IDS))
        with offloaded.record_inputs() as inputs:
            offloaded.logits(IDS)
        with offloaded.start_at(2, inputs):
            close(offloaded.logits(IDS), expected)
        assert torch.equal(offloaded.logits(IDS), expected), "nothing is left behind"
    batch = make_batches([[Option(tuple(range(1, 12)), 10)]] * 2)[0]
    np.testing.assert_allclose(gate_gradient(offloaded, batch, None), gate_gradient(plain, batch, None), atol=1e-5)
    found, expected = (both_ways(model, *opposite_sides(), LayerInputs()) for model in (offloaded, plain))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert found[0].tobytes() == one_way(offloaded, opposite_sides()[0], LayerInputs()).tobytes()
