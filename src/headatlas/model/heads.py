"""The one seam to the attention heads: read, scale, replace or add to what each head writes.

A head lives at the *input* of the attention out-projection: z of shape [batch, pos, head, head_dim]. The projection
mixes the heads, so slicing its output would be silently wrong. Nothing outside this file touches a hook.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache

from headatlas.errors import HeadAtlasError
from headatlas.model.families import Family, family_of
from headatlas.model.forwards import only_at, position_wise, restore
from headatlas.model.past import read_only_cache
from headatlas.model.quantizing import bits_of, unpacked
from headatlas.model.sharing import Sharing, try_sharing

# Takes the layer and z [batch, pos, head, head_dim]; returns its replacement, or None to leave it as it is.
Edit = Callable[[int, Tensor], Tensor | None]
# What replaces a gated head, broadcastable to z: per layer, or one [layer, head, head_dim] tensor.
Baseline = Mapping[int, Tensor] | Tensor


# Entries of a configuration that say where a model comes from and not what it computes; weights carry their own dtype.
PROVENANCE = ("_name_or_path", "architectures", "dtype", "transformers_version")


class LayerInputs:
    """What entered layers of one forward: `hidden[layer]` is [batch, pos, d_model], from position `prefix` on;
    `hidden[n_layers]` is what left the last one, where that was asked for.

    `past` holds the keys and values of each layer before that, [batch, kv_head, prefix, head_dim]; none without prefix.
    A `past` of one row is that of every row.
    """

    def __init__(self, prefix: int = 0, past: Sequence[tuple[Tensor, Tensor]] = ()) -> None:
        self.prefix, self.past = prefix, past
        self.hidden: dict[int, Tensor] = {}
        self.tuples: list[int] = []  # length of the tuple a layer returns, 0 for a bare tensor

    def with_past(self, past: Sequence[tuple[Tensor, Tensor]]) -> LayerInputs:
        """The same inputs after other keys and values of the prefix."""
        other = LayerInputs(self.prefix, past)
        other.hidden, other.tuples = self.hidden, self.tuples
        return other


class _Reached(Exception):
    """Ends a forward at a module of which only what enters it is wanted."""

    def __init__(self, entering: Tensor) -> None:
        super().__init__()
        self.entering = entering


class HeadModel:
    """A causal language model of the transformers library, its tokenizer, and the seam to its heads.

    The module is used as it is (put in eval mode); with no context manager active its logits are the same bits.
    """

    def __init__(self, module: nn.Module, tokenizer: Any = None, name: str | None = None, family: Family | None = None):
        config = getattr(module, "config", None)
        if config is None:
            raise HeadAtlasError(
                f"{type(module).__name__} has no .config; headatlas maps causal language models of transformers."
            )
        family = family or family_of(config)
        text_config = config.get_text_config() if hasattr(config, "get_text_config") else config
        self.module: Any = module.eval()
        self.tokenizer = tokenizer
        self.name = name or getattr(config, "_name_or_path", "") or type(module).__name__
        self.model_type: str = config.model_type
        self.layers = list(_descend(module, family.layers, self.model_type))
        self.out_projections = [_descend(layer, family.out_projection, self.model_type) for layer in self.layers]
        self.n_layers = len(self.layers)
        self.n_heads: int = getattr(text_config, family.heads)
        self.d_model: int = text_config.hidden_size
        self.head_dim: int = getattr(text_config, family.head_dim, None) or self.d_model // self.n_heads
        self.n_kv_heads: int = (
            family.kv_heads(text_config)
            if callable(family.kv_heads)
            else getattr(text_config, family.kv_heads, None) or self.n_heads
        )
        direct = family.adds_directly
        self.adds_directly: bool = direct(text_config) if callable(direct) else direct
        self.context: int = getattr(text_config, "max_position_embeddings", None) or 1_000_000_000
        self._past: DynamicCache | None = None  # what `logits` continues, set by `record_inputs` and `start_at`
        self._short = False  # set by `last_layer_where_scored`
        self._check_layout()

    def _check_layout(self) -> None:
        for layer, projection in enumerate(self.out_projections):
            width = getattr(projection, "in_features", None) or _read_matrix(projection).shape[0]
            if width != self.n_heads * self.head_dim:
                raise HeadAtlasError(
                    f"The out-projection of layer {layer} reads {width} values, but {self.n_heads} heads of "
                    f"{self.head_dim} make {self.n_heads * self.head_dim}. The family registered for "
                    f"{self.model_type!r} names the wrong module or configuration entries."
                )
        if self.module.get_output_embeddings() is None:
            raise HeadAtlasError(f"{type(self.module).__name__} has no output embeddings: it is not a language model.")

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, heads)."""
        return self.n_layers, self.n_heads

    @property
    def kv_groups(self) -> list[tuple[int, ...]]:
        """The heads of a layer that share keys and values, group by group; every head by itself where none do."""
        size = self.n_heads // self.n_kv_heads
        return [tuple(range(first, first + size)) for first in range(0, self.n_heads, size)]

    @property
    def device(self) -> torch.device:
        """Where input ids go; a dispatched model moves everything after that itself."""
        embeddings = self.module.get_input_embeddings()
        if embeddings.weight.is_meta:  # offloaded between calls; accelerate brings it to where it runs
            return torch.device(embeddings._hf_hook.execution_device)
        return embeddings.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.module.get_input_embeddings().weight.dtype

    @property
    def kernel(self) -> str | None:
        """The attention implementation that transformers uses; kernels round differently."""
        return getattr(self.module.config, "_attn_implementation", None)

    @property
    def quantized(self) -> int | None:
        """The bits of a weight of the layers, where they are packed."""
        return bits_of(self.module)

    @cached_property
    def sharing(self) -> Sharing:
        """What forwards of this model can share."""
        return try_sharing(self)

    def fingerprint(self) -> str:
        """A hash of the configuration and of every weight as they are now. Refuses weights that are not finite."""
        config = {key: value for key, value in self.module.config.to_dict().items() if key not in PROVENANCE}
        digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
        for key, tensor in _weights(self.module):
            if tensor.is_floating_point() and not torch.isfinite(tensor.sum(dtype=torch.float32)):
                raise HeadAtlasError(
                    f"The weight {key!r} of {self.name} holds NaN or infinite values; a map of it would mean nothing. "
                    "Load the model again, or in another dtype."
                )
            digest.update(f"{key} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return digest.hexdigest()[:16]

    def out_weight(self, layer: int) -> Tensor:
        """W_O of one layer, split by head: [head, head_dim, d_model]; head h writes z_h @ out_weight(layer)[h]."""
        projection = self.out_projections[layer]
        matrix = unpacked(projection, self.dtype).T if self.quantized else _read_matrix(projection)
        return matrix.unflatten(0, (self.n_heads, self.head_dim))

    def logits(self, ids: Tensor) -> Tensor:
        """Logits for token ids [batch, pos]. Pad on the right: causal attention then never sees the padding."""
        past = {"use_cache": False} if self._past is None else {"use_cache": True, "past_key_values": self._past}
        return self.module(input_ids=ids.to(self.device), **past).logits

    def attention(self, ids: Tensor) -> tuple[Tensor, ...] | None:
        """Attention weights of every layer [batch, head, query, key]; None if the module cannot return them.

        Fast kernels never form the weights, so the module is switched to its plain ("eager") one for this call. Some
        modules cannot be switched after they were built, and custom modules may not accept `output_attentions`.
        """
        usual = self.kernel
        if usual != "eager" and not getattr(self.module, "_can_set_attn_implementation", lambda: False)():
            return None
        try:
            if usual != "eager":
                self.module.set_attn_implementation("eager")
            weights = self.module(input_ids=ids.to(self.device), use_cache=False, output_attentions=True).attentions
        except (TypeError, AttributeError):
            return None
        finally:
            if usual != "eager":
                self.module.set_attn_implementation(usual)
        complete = weights is not None and len(weights) == self.n_layers and all(w is not None for w in weights)
        return tuple(weights) if complete else None

    @contextmanager
    def capture(
        self, layers: Iterable[int] | None = None, reduce: Edit | None = None, grad: bool = False
    ) -> Iterator[dict[int, Tensor]]:
        """Read z while the model runs: yields {layer: z [batch, pos, head, head_dim]}, filled by the forward.

        With `grad`, z is part of the graph even though the weights are frozen: `torch.autograd.grad(loss, z[layer])`.
        `reduce` turns z into something smaller as it passes, so that nothing large is ever held.
        """
        captured: dict[int, Tensor] = {}

        def read(layer: int, z: Tensor) -> Tensor | None:
            if grad and not z.requires_grad:
                z = z.detach().requires_grad_()
            reduced = reduce(layer, z) if reduce else z
            if reduced is not None:
                captured[layer] = reduced
            return z if grad else None

        with self._edit(read, range(self.n_layers) if layers is None else layers):
            yield captured

    @contextmanager
    def gate(self, gates: Tensor, baseline: Baseline | None = None, where: Tensor | None = None) -> Iterator[None]:
        """Scale every head: z becomes g z + (1 - g) baseline (zero unless given).

        `gates` is [layer, head], or [batch, layer, head] for a different mask in every row. A gate of 1 leaves the bits
        of z as they are; layers whose gates are all 1 are not touched, unless the gates need gradients. `where`
        [batch, pos] limits all that to some positions: elsewhere z stays as it is.
        """
        if gates.shape[-2:] != self.shape or gates.dim() not in (2, 3):
            raise HeadAtlasError(
                f"Gates of shape {tuple(gates.shape)} were given; {self.name} takes {self.shape} or (batch, "
                f"{self.n_layers}, {self.n_heads})."
            )

        def scale(layer: int, z: Tensor) -> Tensor:
            g = gates[..., layer, :].to(z.device, z.dtype)
            g = g[..., :, None] if g.dim() == 1 else g[:, None, :, None]
            if where is not None:
                g = torch.where(where.to(z.device)[..., None, None], g, 1)
            scaled = g * z
            return scaled if baseline is None else scaled + (1 - g) * baseline[layer].to(z.device, z.dtype)

        if gates.requires_grad:
            touched = list(range(self.n_layers))
        else:
            touched = (gates != 1).any(-1).reshape(-1, self.n_layers).any(0).nonzero().flatten().tolist()
        with self._edit(scale, touched):
            yield

    @contextmanager
    def patch(self, values: Mapping[int, Tensor], heads: Tensor | None = None) -> Iterator[None]:
        """Replace z by other values: {layer: tensor broadcastable to [batch, pos, head, head_dim]}.

        `heads` is a boolean mask [layer, head] or [batch, layer, head] of what is replaced; all heads of the layers
        in `values` when absent.
        """

        def replace(layer: int, z: Tensor) -> Tensor:
            new = values[layer].to(z.device, z.dtype)
            if heads is None:
                return new.expand_as(z)
            chosen = heads[..., layer, :].to(z.device)
            chosen = chosen[..., :, None] if chosen.dim() == 1 else chosen[:, None, :, None]
            return torch.where(chosen, new, z)

        with self._edit(replace, values):
            yield

    @contextmanager
    def add(self, values: Mapping[int, Tensor], last: bool = False) -> Iterator[None]:
        """Add to z: {layer: tensor broadcastable to [batch, pos, head, head_dim]}.

        With `last`, only at the last position of every forward: where the next token is predicted, while a text is
        generated with a cache.
        """

        def push(layer: int, z: Tensor) -> Tensor:
            value = values[layer].to(z.device, z.dtype)
            return torch.cat([z[:, :-1], z[:, -1:] + value], 1) if last else z + value

        with self._edit(push, values):
            yield

    @contextmanager
    def _edit(self, edit: Edit, layers: Iterable[int]) -> Iterator[None]:
        """Run `edit` on z of the given layers; the hooks live exactly as long as the `with`."""

        def hook_for(layer: int) -> Callable[[nn.Module, tuple[Tensor, ...]], tuple[Tensor, ...] | None]:
            def hook(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
                new = edit(layer, args[0].unflatten(-1, (self.n_heads, self.head_dim)))
                return None if new is None else (new.flatten(-2), *args[1:])

            return hook

        handles = []
        try:
            for layer in layers:
                handles.append(self.out_projections[layer].register_forward_pre_hook(hook_for(layer)))
            yield
        finally:
            for handle in handles:
                handle.remove()

    @contextmanager
    def only_logits(self, rows: Tensor, positions: Tensor) -> Iterator[None]:
        """Compute logits only at the given (row, position) pairs: `logits` then returns [pair, vocabulary]."""

        def pick(_: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            hidden = args[0]
            return (hidden[rows.to(hidden.device), positions.to(hidden.device)], *args[1:])

        handle = self.module.get_output_embeddings().register_forward_pre_hook(pick)
        last = position_wise(self.layers[-1], self.out_projections[-1])
        try:
            with only_at(last, rows, positions) if self._short else nullcontext():
                yield
        finally:
            handle.remove()

    @contextmanager
    def last_layer_where_scored(self) -> Iterator[None]:
        """Nothing reads the last layer but the logits: `only_logits` then runs its out-projection and its MLP only at
        the positions that it is given. `sharing.last_layer` says whether that gives the same logits."""
        before, self._short = self._short, True
        try:
            yield
        finally:
            self._short = before

    @contextmanager
    def record_inputs(
        self, after: LayerInputs | None = None, layers: Collection[int] | None = None
    ) -> Iterator[LayerInputs]:
        """Record the hidden states that enter each layer, or some of the `layers`, for `start_at`; of the tokens after
        a recorded prefix where one is given. What leaves the last layer is recorded where `layers` has `n_layers`."""
        inputs = LayerInputs() if after is None else LayerInputs(after.prefix, after.past)

        def keep(_: nn.Module, args: tuple[Tensor, ...], output: Any) -> None:
            layer = len(inputs.tuples)
            if layers is None or layer in layers:
                inputs.hidden[layer] = args[0]
            inputs.tuples.append(len(output) if isinstance(output, tuple) else 0)
            if layers is not None and layer + 1 == self.n_layers in layers:
                inputs.hidden[self.n_layers] = output[0] if isinstance(output, tuple) else output

        handles = []
        with self.continue_after(inputs):
            try:
                for layer in self.layers:
                    handles.append(layer.register_forward_hook(keep))
                yield inputs
            finally:
                for handle in handles:
                    handle.remove()

    def record_prefix(self, ids: Tensor, after: LayerInputs | None = None) -> LayerInputs:
        """What `continue_after` needs of texts that begin with ids [batch, pos], or go on with them after a prefix."""
        after = after or LayerInputs()
        if not ids.shape[1]:
            return after
        nowhere, cache = torch.zeros(1, dtype=torch.long), DynamicCache(after.past) if after.past else DynamicCache()
        with torch.no_grad(), self._continuing(cache) as past, self.only_logits(nowhere, nowhere):
            self.logits(ids)
        return LayerInputs(after.prefix + ids.shape[1], [(layer.keys, layer.values) for layer in past.layers])

    @contextmanager
    def continue_after(self, inputs: LayerInputs) -> Iterator[None]:
        """`logits` takes the tokens after a recorded prefix, or whole texts where there is none."""
        with self._continuing(read_only_cache((pair, False) for pair in inputs.past) if inputs.past else None):
            yield

    @contextmanager
    def _continuing(self, past: DynamicCache | None) -> Iterator[Any]:
        """`logits` continues the texts whose keys and values are in `past`, and adds to them."""
        before, self._past = self._past, past
        try:
            yield past
        finally:
            self._past = before

    @contextmanager
    def start_at(
        self, layer: int, inputs: LayerInputs, copies: int = 1, past: LayerInputs | None = None
    ) -> Iterator[None]:
        """Skip the layers below `layer`: they pass their input through, and the last of them hands over what `inputs`
        recorded for `layer`, repeated for `copies` of the batch. Masks and positions are still made by the model.

        With a recorded prefix `logits` takes the tokens after it. Where each copy has a prefix of its own, which all
        its rows share, `past` has those of the copies, from `layer` on.
        """
        below = self.layers[:layer]
        replaced = [block.__dict__.get("forward") for block in below]
        recorded = inputs.hidden[layer].repeat(copies, 1, 1)
        before = [(pair, False) for pair in inputs.past]
        if past is not None:  # skipped layers only need to know the length
            before[layer:] = [(pair, True) for pair in past.past[layer:]]

        def passing(size: int, replacement: Tensor | None) -> Callable[..., Any]:
            def forward(hidden: Tensor, *_: Any, **__: Any) -> Any:
                out = hidden if replacement is None else replacement
                return (out, *[None] * (size - 1)) if size else out

            return forward

        with self._continuing(read_only_cache(before) if before else None):
            try:
                for depth, block in enumerate(below):
                    block.forward = passing(inputs.tuples[depth], recorded if depth == layer - 1 else None)
                yield
            finally:
                restore(below, replaced)

    def logits_from(self, hidden: Tensor) -> Tensor:
        """Logits [row, vocabulary] of hidden states [row, d_model] that leave the last layer: through the final norm,
        the unembedding, and whatever scales or caps logits."""
        with self._entered_by(self.n_layers, hidden):
            return self.logits(torch.zeros(len(hidden), 1, dtype=torch.long))[:, 0]

    def normed(self, hidden: Tensor) -> Tensor:
        """What the unembedding reads [row, width] of hidden states [row, d_model] that leave the last layer."""
        with self._entered_by(self.n_layers, hidden):
            blank = torch.zeros(len(hidden), 1, dtype=torch.long)
            return self._read_until(self.module.get_output_embeddings(), blank)[:, 0]

    def embed(self, tokens: Tensor) -> Tensor:
        """What enters the first layer [token, d_model] in texts of a single token."""
        return self._read_until(self.layers[0], tokens[:, None])[:, 0]

    def values(self, layer: int, tokens: Tensor) -> Tensor:
        """z [token, head, head_dim] of a layer that the embeddings of single tokens enter as they are. Each attends to
        itself alone, so these are its values. Only this layer runs, up to its out-projection."""
        with self._entered_by(layer, self.embed(tokens)):
            z = self._read_until(self.out_projections[layer], tokens[:, None])[:, 0]
        return z.unflatten(-1, (self.n_heads, self.head_dim))

    def _entered_by(self, layer: int, hidden: Tensor) -> AbstractContextManager[None]:
        """Hidden states [row, d_model], each a text of one token, enter a layer; the first is entered by embeddings."""
        inputs = LayerInputs()
        inputs.hidden, inputs.tuples = {layer: hidden[:, None]}, self._tuples
        return self.start_at(layer, inputs)

    @cached_property
    def _tuples(self) -> list[int]:
        """What the layers return, as in `LayerInputs`."""
        with torch.no_grad(), self.record_inputs() as inputs:
            self.logits(torch.zeros(1, 1, dtype=torch.long))
        return inputs.tuples

    def _read_until(self, module: nn.Module, ids: Tensor) -> Tensor:
        """What enters a module in a forward over ids, which ends there."""

        def stop(_: nn.Module, args: tuple[Tensor, ...]) -> None:
            raise _Reached(args[0])

        handle = module.register_forward_pre_hook(stop)
        try:
            self.logits(ids)
        except _Reached as reached:
            return reached.entering
        finally:
            handle.remove()
        raise HeadAtlasError(f"A forward of {self.name} did not come to its {type(module).__name__}.")

    @contextmanager
    def checkpointed(self) -> Iterator[None]:
        """Keep only the inputs of the layers for a backward and compute the rest again in it: less memory, one forward
        more, the same numbers. Forward and backward belong inside, and inside the `gate` that is differentiated.

        The checkpoints of transformers work in training mode only, which would switch dropout on. The last layer runs
        everywhere: what shortens a forward is gone when layers are computed again.
        """
        short, self._short = self._short, False
        replaced = [block.__dict__.get("forward") for block in self.layers]

        def again(forward: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *args, **kwargs: checkpoint(forward, *args, use_reentrant=False, **kwargs)

        try:
            for block in self.layers:
                block.forward = again(block.forward)
            yield
        finally:
            self._short = short
            restore(self.layers, replaced)


def _descend(module: nn.Module, path: str, model_type: str) -> Any:
    part_of_model: Any = module
    for part in path.split("."):
        if not hasattr(part_of_model, part):
            raise HeadAtlasError(
                f"{type(module).__name__} has no {path!r} (missing: {part!r}), as the family registered for "
                f"{model_type!r} says. Register the right paths with headatlas.register_family."
            )
        part_of_model = getattr(part_of_model, part)
    return part_of_model


def _read_matrix(projection: Any) -> Tensor:
    """The out-projection as [heads * head_dim, d_model]; transformers' Conv1D (gpt2) stores it that way round."""
    weight: Tensor = projection.weight
    return weight if type(projection).__name__ == "Conv1D" else weight.T


def _weights(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """By name. Those that accelerate has put into main memory or on disk are read one at a time."""
    owners = dict(module.named_modules())
    for key, tensor in module.state_dict().items():
        if tensor.is_meta:
            from accelerate.utils.modeling import align_module_device

            path, _, name = key.rpartition(".")
            with align_module_device(owners[path], torch.device("cpu")):
                yield key, getattr(owners[path], name)
        else:
            yield key, tensor
