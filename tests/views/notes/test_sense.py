"""What is said beside maps of random masks."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.methods.sense.pairs import BACKS_UP, BOTH
from headatlas.methods.sense.sense import LOSS, MASKS, PER_MASK, R2
from headatlas.views.notes import method_notes
from headatlas.views.notes import sense as note_of_sense
from headatlas.views.notes.repair import backups_not_asked
from tests.atlases import Known, write_atlas


def masked(folder, *entries):
    return write_atlas(folder, [Known(np.ones((2, 3)), method="sense", task="A")], diagnostics=list(entries))


NUMBERS = [
    Diagnostic("sense", name, value, "A")
    for name, value in ((MASKS, 200), (PER_MASK, 33.75), (LOSS, 0.98), (R2, 0.862))
]


def test_masks_have_a_row_and_pairs_a_sentence(tmp_path):
    assert note_of_sense.BACKS_UP == BACKS_UP
    pair = {"task": "A", "layer": 0, "head": 1}
    (note,) = method_notes(
        masked(
            tmp_path / "atlas",
            *NUMBERS,
            Diagnostic("sense", f"{BOTH}L1H2", 5.62, **pair),
            Diagnostic("sense", f"{BACKS_UP}L1H2", 3.1, low=2.5, high=3.7, **pair),
            Diagnostic("sense", f"{BOTH}L1H0", 1.0, **pair),
        )
    )
    assert note.rows == (("A", "200", "33.8", "0.98", "0.86"),)
    meaning, sentence = note.sentences
    assert meaning.startswith("Mean loss: nats that the task loses under a mask")
    assert sentence == (
        "A: L0H1 and L1H2 back each other up. Without both the task loses 5.62 nats, 3.10 (2.50 to 3.70) more than the "
        "sum of what it loses without each."
    )


def test_without_such_pairs_there_is_the_row_alone(tmp_path):
    (note,) = method_notes(masked(tmp_path / "atlas", *NUMBERS))
    assert len(note.rows) == len(note.sentences) == 1
    assert method_notes(masked(tmp_path / "none")) == []


def test_heads_that_were_removed_together_were_not_replaced_one_at_a_time(tmp_path):
    assert backups_not_asked(masked(tmp_path / "atlas", *NUMBERS)) == []
