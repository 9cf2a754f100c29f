"""From logits to gates: binary samples whose chance is known, and finished gates that are nearly binary."""

import numpy as np
import torch

from headatlas.methods.gate.relaxations import COLD, Binary, Soft, choose_relaxation

LOGITS = torch.tensor([[-4.0, -1.0, 0.0], [1.0, 2.0, 4.0]], dtype=torch.float64)


def test_binary_gates_are_open_by_the_chance_of_the_sigmoid():
    drawn = Binary(1.0).draw(LOGITS, 40_000, 1.0, np.random.default_rng(0))
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    torch.testing.assert_close(drawn.mean(0), torch.sigmoid(LOGITS), atol=0.01, rtol=0)
    assert not torch.equal(drawn[0], drawn[1])


def test_noise_falls_with_the_learning_rate_and_follows_the_setting():
    cold = Binary(1.0).draw(LOGITS, 40_000, 0.0, np.random.default_rng(0)).mean(0)
    torch.testing.assert_close(cold, torch.sigmoid(LOGITS / COLD), atol=0.01, rtol=0)
    half = Binary(0.5).draw(LOGITS, 40_000, 1.0, np.random.default_rng(0)).mean(0)
    torch.testing.assert_close(half, torch.sigmoid(LOGITS / 0.5), atol=0.01, rtol=0)


def test_finished_binary_gates_are_the_chance_to_be_open_at_the_end_stretched_and_clipped():
    assert Binary(1.0).finished(torch.tensor([-4.0, -0.5, 0.0, 0.5, 4.0])).tolist() == [0, 0, 0.5, 1, 1]
    chance = torch.sigmoid(torch.tensor([-0.2, 0.2]) / COLD)
    torch.testing.assert_close(Binary(1.0).finished(torch.tensor([-0.2, 0.2])), 1.2 * chance - 0.1)
    torch.testing.assert_close(Binary(2.0).finished(torch.tensor([-0.4, 0.4])), 1.2 * chance - 0.1)


def test_soft_gates_are_the_sigmoid_for_all_examples():
    assert isinstance(choose_relaxation("paper", 1.0), Soft) and isinstance(choose_relaxation("binary", 1.0), Binary)
    drawn = Soft().draw(LOGITS, 5, 1.0, np.random.default_rng(0))
    torch.testing.assert_close(drawn, torch.sigmoid(LOGITS)[None])
    torch.testing.assert_close(Soft().finished(LOGITS), torch.sigmoid(LOGITS))


def test_the_examples_of_a_step_share_the_noise_out_evenly():
    """Of ten examples a gate that is open with chance 0.73 is open in seven or eight, in every step."""
    steps = [Binary(1.0).draw(LOGITS, 10, 1.0, np.random.default_rng(step)).sum(0) for step in range(50)]
    expected = 10 * torch.sigmoid(LOGITS)
    assert all(bool(((opened - expected).abs() < 1).all()) for opened in steps)
    assert len({tuple(opened.flatten().tolist()) for opened in steps}) > 1
    single = torch.cat([Binary(1.0).draw(LOGITS, 1, 1.0, np.random.default_rng(step)) for step in range(4_000)])
    torch.testing.assert_close(single.mean(0), torch.sigmoid(LOGITS), atol=0.04, rtol=0)
