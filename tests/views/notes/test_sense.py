"""What is said beside maps of random masks."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.methods.sense.pairs import ALONE, BACKS_UP, BOTH, EACH_OTHER
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
    said = (note_of_sense.ALONE, note_of_sense.BOTH, note_of_sense.BACKS_UP, note_of_sense.EACH_OTHER)
    assert said == (ALONE, BOTH, BACKS_UP, EACH_OTHER)
    main, backup, third = ({"task": "A", "layer": layer, "head": head} for layer, head in ((0, 1), (1, 2), (1, 0)))
    (note,) = method_notes(
        masked(
            tmp_path / "atlas",
            *NUMBERS,
            *(Diagnostic("sense", ALONE, value, **head) for value, head in ((2.4, main), (0.12, backup), (0.2, third))),
            Diagnostic("sense", f"{BOTH}L0H1", 5.62, **backup),
            Diagnostic("sense", f"{BACKS_UP}L0H1", 3.1, low=2.5, high=3.7, **backup),
            Diagnostic("sense", f"{BOTH}L1H0", 1.0, **main),
            Diagnostic("sense", f"{BOTH}L1H0", 1.0, **backup),
            Diagnostic("sense", f"{EACH_OTHER}L1H0", 0.7, low=0.5, high=0.9, **backup),
        )
    )
    assert note.rows == (("A", "200", "33.8", "0.98", "0.86"),)
    meaning, first, second = note.sentences
    assert meaning.startswith("Mean loss: nats that the task loses under a mask")
    assert first == (
        "A: L1H2 backs up L0H1. Without L1H2 alone the task loses 0.12 nats, without L0H1 alone 2.40; without both "
        "5.62, which is 3.10 (2.50 to 3.70) more than the sum."
    )
    assert second.startswith("A: L1H2 and L1H0 back each other up. Without L1H2 alone the task loses 0.12 nats")


def test_without_such_pairs_there_is_the_row_alone(tmp_path):
    (note,) = method_notes(masked(tmp_path / "atlas", *NUMBERS))
    assert len(note.rows) == len(note.sentences) == 1
    assert method_notes(masked(tmp_path / "none")) == []


def test_where_no_head_backs_up_another_that_is_said(tmp_path):
    alone = [Diagnostic("sense", ALONE, 1.0, "A", layer=0, head=head) for head in range(3)]
    (note,) = method_notes(masked(tmp_path / "atlas", *NUMBERS, *alone))
    assert note.sentences[1:] == ("A: none of the first 3 heads is shown to back up another of them.",)


def test_heads_that_were_removed_together_were_not_replaced_one_at_a_time(tmp_path):
    assert backups_not_asked(masked(tmp_path / "atlas", *NUMBERS)) == []
