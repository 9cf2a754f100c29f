"""Products of hidden states with the matrices of a model, through oneDNN on x86 processors.

torch hands float32 products to MKL. On the AMD processor that was measured oneDNN, which comes with torch as well, made
whole forwards of SmolLM2-135M 4 to 15 % faster. It reads the weights as they are, so nothing is copied. torch has no
public function for it; where the operator is missing or gives other numbers, products stay as they were.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from headatlas.model.forwards import restore

FEWEST_ROWS, FEWEST_WEIGHTS = 48, 1 << 16  # of a product that is worth it
PROCESSORS = ("x86_64", "AMD64")


@contextmanager
def faster_products(modules: Iterable[nn.Linear]) -> Iterator[None]:
    """Linear modules use oneDNN while this lasts; those whose forward somebody else has replaced stay as they are."""
    usable = _works() and torch.backends.mkldnn.enabled
    linears: list[Any] = [module for module in modules if usable and _is_plain(module)]
    try:
        for module in linears:
            module.forward = _forward_of(module)
        yield
    finally:
        restore(linears, [None] * len(linears))


def _is_plain(module: Any) -> bool:
    """A float32 layer on the processor that is what torch made it: not quantised, adapted, offloaded or replaced."""
    if type(module) is not nn.Linear or "forward" in module.__dict__:
        return False
    weight = module.weight
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and not weight.requires_grad
        and weight.numel() >= FEWEST_WEIGHTS
    )


def _forward_of(module: nn.Linear) -> Callable[[Tensor], Tensor]:
    weight, bias = module.weight, module.bias

    def forward(entering: Tensor) -> Tensor:
        if entering.numel() < FEWEST_ROWS * weight.shape[1] or entering.dtype != torch.float32:
            return linear(entering, weight, bias)
        if torch.is_grad_enabled() and entering.requires_grad:
            product: Tensor = _Product.apply(entering, weight, bias)
            return product
        return _multiply(entering, weight, bias)

    return forward


class _Product(torch.autograd.Function):
    """With a gradient for what enters, and none for the weights, which are frozen."""

    @staticmethod
    def forward(ctx: Any, entering: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(weight)
        return _multiply(entering, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (weight,) = ctx.saved_tensors
        return _multiply(gradient, weight.T, None), None, None


def _multiply(entering: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """entering [..., in] with weight [out, in], as `linear` does."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(entering, weight, bias, "none", [], "")
    return product


@cache
def _works() -> bool:
    """Whether torch has the operator and it multiplies: tried once, with weights in both orders of memory."""
    if platform.machine() not in PROCESSORS or not torch.backends.mkldnn.is_available():
        return False
    random = torch.Generator().manual_seed(0)
    entering, weight = (torch.randn(size, generator=random) for size in ((2, FEWEST_ROWS, 80), (96, 80)))
    bias = torch.randn(96, generator=random)
    try:
        with torch.inference_mode():
            tried = [(_multiply(entering, order, bias), linear(entering, order, bias)) for order in _orders(weight)]
    except (AttributeError, RuntimeError, TypeError):
        return False
    return all(torch.allclose(product, expected, atol=1e-4) for product, expected in tried)


def _orders(weight: Tensor) -> tuple[Tensor, Tensor]:
    """The same matrix, stored by rows and by columns."""
    return weight.contiguous(), weight.T.contiguous().T
