"""The one seam to the attention heads: read, scale, replace or add to what each head writes.

A head lives at the *input* of the attention out-projection: z of shape [batch, pos, head, head_dim]. The projection
mixes the heads, so slicing its output would be silently wrong. Nothing but this file and `partial.py` hangs a hook on a
module.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn

from headatlas.errors import HeadAtlasError
from headatlas.model.body import Bodies, hooked
from headatlas.model.families import Family, family_of
from headatlas.model.partial import PartialForwards
from headatlas.model.quantizing import bits_of, unpacked
from headatlas.model.sharing import Sharing, try_sharing

# Takes the layer and z [batch, pos, head, head_dim]; returns its replacement, or None to leave it as it is.
Edit = Callable[[int, Tensor], Tensor | None]
# What replaces a gated head, broadcastable to z: per layer, or one [layer, head, head_dim] tensor.
Baseline = Mapping[int, Tensor] | Tensor


# Entries of a configuration that say where a model comes from and not what it computes; weights carry their own dtype.
PROVENANCE = ("_name_or_path", "architectures", "dtype", "transformers_version")


class HeadModel(PartialForwards):
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
        self.model_type: str = config.model_type
        self.bodies = Bodies(module.eval(), family, self.model_type)
        self.tokenizer = tokenizer
        self.name = name or getattr(config, "_name_or_path", "") or type(module).__name__
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

        projections = self.out_projections
        with hooked(partial(projections[layer].register_forward_pre_hook, hook_for(layer)) for layer in layers):
            yield


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
