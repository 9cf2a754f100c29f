"""Forwards that are replaced for a while come back, whenever Ctrl-C arrives."""

import pytest
import torch
from torch import nn

from headatlas.model.forwards import only_at


class Interrupting(nn.Linear):
    """Ctrl-C comes just before its forward would be replaced."""

    def __setattr__(self, name, value):
        if name == "forward":
            raise KeyboardInterrupt
        super().__setattr__(name, value)


def test_an_interrupt_before_a_forward_is_replaced_stays_an_interrupt():
    plain, interrupting = nn.Linear(2, 2), Interrupting(2, 2)
    nowhere = torch.zeros(1, dtype=torch.long)
    with pytest.raises(KeyboardInterrupt), only_at([plain, interrupting], nowhere, nowhere):
        pass
    assert "forward" not in plain.__dict__ and "forward" not in interrupting.__dict__
