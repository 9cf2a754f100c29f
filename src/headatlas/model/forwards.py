"""Forwards of modules, replaced for a while: to compute less where only some positions are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


def restore(blocks: Iterable[Any], replaced: Iterable[Callable[..., Any] | None]) -> None:
    """Give blocks back the `forward` of their class, or the instance attribute that shadowed it.

    Where Ctrl-C came early, some of them have not been replaced yet.
    """
    for block, forward in zip(blocks, replaced, strict=True):
        if forward is None:
            block.__dict__.pop("forward", None)
        else:
            block.forward = forward


def position_wise(layer: nn.Module, out_projection: nn.Module) -> list[nn.Module]:
    """Modules of a layer that treat each position by itself and have matrices: the out-projection, and what comes
    beside the attention, which is an MLP in all architectures we know."""
    beside = [child for child in layer.children() if not any(part is out_projection for part in child.modules())]
    return [out_projection, *(child for child in beside if any(weight.dim() > 1 for weight in child.parameters()))]


@contextmanager
def only_at(modules: Sequence[Any], rows: Tensor, positions: Tensor) -> Iterator[None]:
    """Modules compute their outputs [batch, pos, width] at the given (row, position) pairs; elsewhere these are zero.

    A module that is called with something else than [batch, pos, width] runs as usual.
    """
    # Each pair once: of two equal ones a backward would count both.
    pairs = torch.unique(torch.stack([rows, positions]).cpu(), dim=1)

    def shortened(forward: Callable[..., Any]) -> Callable[..., Any]:
        def run(entering: Tensor, *args: Any, **kwargs: Any) -> Any:
            if entering.dim() != 3:
                return forward(entering, *args, **kwargs)
            at = tuple(pairs.to(entering.device))

            def pick(given: Any) -> Any:
                alike = isinstance(given, Tensor) and given.shape[:2] == entering.shape[:2]
                return given[at][None] if alike else given

            def spread(computed: Tensor) -> Tensor:
                whole = computed.new_zeros(*entering.shape[:2], computed.shape[-1])
                whole[at] = computed[0]
                return whole

            out = forward(pick(entering), *map(pick, args), **{name: pick(value) for name, value in kwargs.items()})
            return (spread(out[0]), *out[1:]) if isinstance(out, tuple) else spread(out)

        return run

    replaced = [module.__dict__.get("forward") for module in modules]
    try:
        for module in modules:
            module.forward = shortened(module.forward)
        yield
    finally:
        restore(modules, replaced)
