"""The certificate of ablation, task by task."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.views.notes import method_notes
from tests.atlases import Known, write_atlas


def test_numbers_that_are_missing_are_dashes(tmp_path):
    maps = [Known(np.ones((3, 4)), method="ablate", task=task) for task in "AB"]
    entries = [Diagnostic("ablate", "examples exact", 6.0, "A"), Diagnostic("ablate", "variance left", np.nan, "A")]
    (note,) = method_notes(write_atlas(tmp_path / "atlas", maps, diagnostics=entries))
    assert note.rows == (("A", "–", "6", "–", "–", "–", "–"),)


def test_without_exact_examples_there_is_no_note(tmp_path):
    entries = [Diagnostic("ablate", "examples attributed", 6.0, "A")]
    atlas = write_atlas(tmp_path / "atlas", [Known(np.ones((3, 4)), method="ablate", task="A")], diagnostics=entries)
    assert method_notes(atlas) == []
