"""Circuits in words."""

import numpy as np
import pytest

from headatlas.atlas.records import Diagnostic
from headatlas.views.notes import method_notes
from headatlas.views.terminal import note_tables, top_table
from tests.atlases import Known, write_atlas
from tests.views.terminal.printing import printed


def circuits(sizes, sufficient, disjoint, task="A"):
    single = {"shared_by_all": 7.0, "jaccard_mean": 0.61, "jaccard_chance": 0.42} if len(sizes) > 1 else {}
    single |= {"sufficient_sets": sufficient, "disjoint_sufficient_sets": disjoint}
    entries = [Diagnostic("gate", "circuit_size", size, task, seed) for seed, size in enumerate(sizes)]
    return entries + [Diagnostic("gate", metric, value, task) for metric, value in single.items()]


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (circuits([9, 12, 10], 3, 2), "A: 3 fits, urged to close, with 9 to 12 heads left open, 7 of them in every "
         "fit; two fits share 0.61 of the heads of either, 0.42 by chance. 3 of 3 are sufficient by themselves, 2 of "
         "them share no head."),
        (circuits([9, 12], 2, 1), "A: 2 fits, urged to close, with 9 to 12 heads left open, 7 of them in every fit; "
         "two fits share 0.61 of the heads of either, 0.42 by chance. 2 of 2 are sufficient by themselves, no two of "
         "them are disjoint."),
        (circuits([9], 0, 0), "A: one fit, urged to close, with 9 heads left open. 0 of 1 are sufficient by "
         "themselves."),
        (circuits([9], 1, 1), "A: one fit, urged to close, with 9 heads left open. 1 of 1 is sufficient by itself."),
    ],
)  # fmt: skip
def test_circuits_in_words(tmp_path, entries, sentence):
    maps = [Known(np.ones((2, 2)), method="gate", measure="facilitation", task="A")]
    atlas = write_atlas(tmp_path / "atlas", maps, diagnostics=entries)
    (note,) = method_notes(atlas)
    assert note.sentences == (sentence,)
    assert printed(note_tables(atlas), width=400) == f"\nCircuits that gates found\n{sentence}\n"


def test_a_fit_without_circuits_has_no_note(tmp_path):
    maps = [Known(np.ones((2, 2)), method="gate", measure="facilitation", task="A")]
    entries = [Diagnostic("gate", "full_nll", 1.5, "A")]
    assert method_notes(write_atlas(tmp_path / "atlas", maps, diagnostics=entries)) == []


def test_masks_that_do_not_hold_are_said_instead_of_circuits(tmp_path):
    maps = [Known(np.ones((2, 2)), method="gate", measure="facilitation", task="A")]
    costs = [
        Diagnostic("gate", "plus_mean_binary_cost", 0.02, "A"),
        Diagnostic("gate", "minus_mean_binary_cost", 1.234, "A"),
    ]
    doubts = {"gate": {"A": "masks do not hold when binarised"}}
    atlas = write_atlas(tmp_path / "atlas", maps, diagnostics=[*circuits([9], 0, 0), *costs], doubts=doubts)
    (note,) = method_notes(atlas)
    assert note.sentences == (
        "A: masks do not hold when binarised (binarising costs 1.23 nats, and may cost more by its interval); its "
        "roles are not to be read.",
    )
    assert "This map is not to be read: masks do not hold when binarised." in printed(
        [top_table(atlas, "A", 2, "gate")]
    )


def test_roles_that_change_are_counted(tmp_path):
    maps = [Known(np.ones((2, 2)), method="gate", measure="facilitation", task="A")]
    changes = {"role_changes_seeds": 1.3, "role_changes_start": 2.0, "role_changes_steps": 0.0}
    entries = circuits([9, 8], 0, 0) + [Diagnostic("gate", metric, value, "A") for metric, value in changes.items()]
    (note,) = method_notes(write_atlas(tmp_path / "atlas", maps, diagnostics=entries))
    assert note.sentences[1] == (
        "A, heads of 4 that change their role: 1 from one seed to another on average, 2 from another start, 0 with "
        "twice the steps."
    )
