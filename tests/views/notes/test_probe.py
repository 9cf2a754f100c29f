"""The probe beside its controls."""

import numpy as np
import pytest

from headatlas.atlas.records import Diagnostic
from headatlas.views.notes import method_notes
from headatlas.views.terminal import note_tables
from tests.atlases import Known, write_atlas
from tests.views.terminal.printing import printed


def atlas_with(folder, low, high):
    entries = [
        Diagnostic("probe", "accuracy", 0.79, low=0.74, high=0.83),
        Diagnostic("probe", "majority", 0.55),
        Diagnostic("probe", "text tf-idf", 0.71, low=0.66, high=0.76),
        Diagnostic("probe", "shuffled accuracy", 0.51, null_low=0.40, null_high=0.61),
        Diagnostic("probe", "gain over text", 0.08, low=low, high=high),
        # What is about one task or another seed does not belong in the table.
        Diagnostic("probe", "recall", 0.99, "a"),
        Diagnostic("probe", "accuracy", 0.11, seed=1),
    ]
    return write_atlas(folder, [Known(np.ones((2, 2)), method="probe")], diagnostics=entries)


def test_accuracy_stands_beside_its_controls(tmp_path):
    (note,) = method_notes(atlas_with(tmp_path / "atlas", 0.03, 0.13))
    assert note.rows == (
        ("probe of all heads", "0.79", "0.74 to 0.83", ""),
        ("tf-idf, text alone", "0.71", "0.66 to 0.76", ""),
        ("probe, shuffled labels", "0.51", "0.40 to 0.61", ""),
        ("majority", "0.55", "–", ""),
        ("gain over text", "+0.08", "+0.03 to +0.13", "better than the text alone"),
    )


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.2, "better than the text alone"),
        (0.0, 0.2, "no better than the text alone"),
        (-0.04, 0.2, "no better than the text alone"),
        (-0.3, -0.1, "worse than the text alone"),
    ],
)
def test_a_gain_whose_interval_includes_zero_is_none(tmp_path, low, high, verdict):
    text = printed(note_tables(atlas_with(tmp_path / "atlas", low, high)))
    assert text.splitlines()[-1].rstrip().endswith(f"  {verdict}")


def test_without_a_probe_there_is_no_note(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [Known(np.ones((2, 2)))])
    assert method_notes(atlas) == [] and note_tables(atlas) == []
