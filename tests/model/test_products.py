"""Products through oneDNN are those of torch, in forwards and backwards, and leave the modules as they were."""

import pytest
import torch
from torch import nn

from headatlas.model import products
from headatlas.model.products import faster_products

ROWS, IN, OUT = 64, 320, 256
close = torch.testing.assert_close


@pytest.fixture(params=[True, False], ids=["bias", "plain"])
def linear(request):
    torch.manual_seed(0)
    return nn.Linear(IN, OUT, bias=request.param).requires_grad_(False)


@pytest.fixture
def counted(monkeypatch):
    """Shapes of the products that went through the operator; skips where this torch has none that works."""
    if not products._works():
        pytest.skip("this processor or this torch has no such operator")
    shapes, multiply = [], products._multiply
    monkeypatch.setattr(products, "_multiply", lambda *given: shapes.append(given[0].shape) or multiply(*given))
    return shapes


def test_products_and_gradients_are_those_of_torch(linear, counted):
    entering = torch.randn(2, ROWS // 2, IN, requires_grad=True)
    weights = torch.randn(2, ROWS // 2, OUT)
    expected = linear(entering)
    (gradient,) = torch.autograd.grad((expected * weights).sum(), entering)
    with faster_products([linear]):
        product = linear(entering)
    close(product, expected, atol=1e-5, rtol=1e-5)
    close(torch.autograd.grad((product * weights).sum(), entering)[0], gradient, atol=1e-5, rtol=1e-5)
    assert [*map(tuple, counted)] == [(2, ROWS // 2, IN), (2, ROWS // 2, OUT)]


@torch.no_grad()
def test_only_large_products_of_plain_frozen_layers_are_taken(linear, counted):
    class Other(nn.Linear):
        pass

    replaced, trained, other = nn.Linear(IN, OUT), nn.Linear(IN, OUT), Other(IN, OUT).requires_grad_(False)
    replaced.requires_grad_(False).forward = lambda entering: entering * 2
    small, half = nn.Linear(8, 8).requires_grad_(False), nn.Linear(IN, OUT, dtype=torch.bfloat16).requires_grad_(False)
    with faster_products([linear, replaced, trained, other, small, half]):
        linear(torch.randn(products.FEWEST_ROWS - 1, IN))
        assert torch.equal(replaced(torch.ones(ROWS, IN)), torch.full((ROWS, IN), 2.0))
        trained(torch.randn(ROWS, IN))
        other(torch.randn(ROWS, IN))
        small(torch.randn(ROWS, 8))
        half(torch.randn(ROWS, IN, dtype=torch.bfloat16))
        assert counted == []
        linear(torch.randn(products.FEWEST_ROWS, IN))
    assert len(counted) == 1
    assert "forward" not in linear.__dict__
    assert "forward" in replaced.__dict__


@pytest.mark.filterwarnings("ignore:TF32")  # torch says so whenever its flags are set
@torch.no_grad()
def test_hooks_see_the_module_and_torch_can_be_told_not_to(linear, counted):
    seen = []
    linear.register_forward_pre_hook(lambda _, args: seen.append(args[0].shape))
    with faster_products([linear]):
        linear(torch.randn(ROWS, IN))
    with torch.backends.mkldnn.flags(enabled=False), faster_products([linear]):
        linear(torch.randn(ROWS, IN))
    assert len(seen) == 2
    assert len(counted) == 1


@pytest.mark.parametrize("broken", [AttributeError, RuntimeError, None])
@torch.no_grad()
def test_an_operator_that_is_missing_or_wrong_is_not_used(linear, monkeypatch, broken):
    def multiply(entering, weight, bias):
        if broken:
            raise broken
        return torch.zeros(*entering.shape[:-1], len(weight))

    monkeypatch.setattr(products, "_multiply", multiply)
    monkeypatch.setattr(products, "_works", products._works.__wrapped__)
    entering = torch.randn(ROWS, IN)
    expected = linear(entering)
    with faster_products([linear]):
        assert torch.equal(linear(entering), expected)
