"""Noise heads: loud enough, felt in single examples, and of no use on average."""

import pytest
import torch

from headatlas.planted import PLANTED
from headatlas.planted.models.loud import DEAD, LOUD
from headatlas.planted.noise import without
from headatlas.planted.words import ids, prompt_ids


def test_what_helps_on_average_is_taken_out():
    generator = torch.Generator().manual_seed(0)
    said, useful = torch.randn(8, 5, generator=generator), torch.randn(3, 8, 5, generator=generator)
    left = without(said, useful)
    assert torch.einsum("dha,ha->d", useful, left).abs().max() < 1e-4
    assert left.norm() > 0.8 * said.norm()


@pytest.mark.parametrize("name", ["null", "induction"])
def test_noise_moves_single_examples_and_not_their_average(name):
    """Noise heads of the last layer do as on the twin: every margin moves, their mean does not."""
    planted = PLANTED[name]
    canvas, model, examples = planted.draw(0), planted.build(0), planted.suite(0).examples
    prompts, last = prompt_ids([example.prompt for example in examples])
    twins, _ = prompt_ids([example.counterfactual.prompt for example in examples])
    words = torch.tensor([ids((e.answer.strip(), e.counterfactual.answer.strip())) for e in examples])

    def margins():
        said = model.logits(prompts)[range(len(last)), last].gather(1, words)
        return said[:, 0] - said[:, 1]

    layer = canvas.layers - 1
    with torch.no_grad():
        intact = margins()
        with model.capture([layer]) as donated:
            model.logits(twins)
        for head in range(canvas.heads):
            if (layer, head) not in canvas.planted:
                mask = torch.zeros(model.shape, dtype=torch.bool)
                mask[layer, head] = True
                with model.patch(donated, mask):
                    moved = intact - margins()
                assert moved.std() > 0.02
                assert abs(moved.mean()) < 3 * moved.std() / len(moved) ** 0.5


def test_noise_is_as_long_as_what_planted_heads_write_and_loud_heads_longer():
    canvas = PLANTED["loud"].draw(0)
    model = PLANTED["loud"].build(0)
    prompts, _ = prompt_ids([example.prompt for example in PLANTED["loud"].suite(0).examples[:10]])
    with torch.no_grad(), model.capture() as z:
        model.logits(prompts)
    length = {
        (layer, head): (z[layer][:, :, head] @ canvas.write((layer, head)).T).norm(dim=-1).mean().item()
        for layer in range(canvas.layers)
        for head in range(canvas.heads)
    }
    noise = [size for head, size in length.items() if head not in {*DEAD, *LOUD, *canvas.planted}]
    assert all(length[head] == 0 for head in DEAD)
    assert min(length[head] for head in LOUD) > 1.5 * max(noise)
    planted = length[next(iter(canvas.planted))]
    assert 0.5 * planted < sum(noise) / len(noise) < 4 * planted
