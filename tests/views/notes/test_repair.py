"""The warning of self-repair."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.views.notes import method_notes
from tests.atlases import Known, write_atlas


def repaired(folder, p):
    value = np.full((2, 3), np.nan)
    value[1, 2] = 3.1
    known = Known(value, np.full((2, 3), 0.1), np.full((2, 3), p), method="repair", task="A")
    numbers = {"takes over from": (1, 2, 1.0), "effect of both": (1, 2, 5.62), "total effect": (0, 1, 2.4),
               "direct effect": (0, 1, 5.5)}  # fmt: skip
    entries = [Diagnostic("repair", m, value, "A", layer=i, head=j) for m, (i, j, value) in numbers.items()]
    return write_atlas(folder, [known], diagnostics=entries)


def test_a_head_that_takes_over_is_a_warning(tmp_path):
    (note,) = method_notes(repaired(tmp_path / "atlas", 1e-6))
    assert note.title == "Heads that take over from each other"
    first, last = note.sentences
    assert first.startswith("A: L1H2 takes over where L0H1 is missing. Without both the task loses 5.62 nats, +3.10 (")
    assert first.endswith("L0H1 alone: 2.40 in total, 5.50 where no other head reacts.")
    assert last == "What is measured one head at a time says too little about such heads."


def test_an_unsure_takeover_is_none(tmp_path):
    assert method_notes(repaired(tmp_path / "atlas", 0.2)) == []
