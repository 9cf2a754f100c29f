"""The certificate of ablation, task by task."""

import numpy as np

from headatlas.atlas.records import (
    AMONG_FIRST,
    EXACT_SHARE,
    FIRST_ASKED,
    FIRST_CONFIDENCE,
    FIRST_SETTLED,
    MAY_BE_FIRST,
    ODD_ALLOWED,
    ODD_ERROR,
    UNSETTLED,
    Diagnostic,
)
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


def race(task, settled, unsettled, odd=1, asked=2):
    numbers = {"examples exact": 6, FIRST_ASKED: asked, FIRST_CONFIDENCE: 0.95, FIRST_SETTLED: len(settled),
               UNSETTLED: len(unsettled), EXACT_SHARE: 0.123, ODD_ALLOWED: odd, ODD_ERROR: 6.71}  # fmt: skip
    heads = [(AMONG_FIRST, head) for head in settled] + [(MAY_BE_FIRST, head) for head in unsettled]
    return [Diagnostic("ablate", metric, float(value), task) for metric, value in numbers.items()] + [
        Diagnostic("ablate", metric, 1.0, task, layer=layer, head=head) for metric, (layer, head) in heads
    ]


def note_of(folder, entries):
    maps = [Known(np.ones((3, 4)), method="ablate", task=task) for task in "AB"]
    (note,) = method_notes(write_atlas(folder, maps, diagnostics=entries))
    return note


def test_a_race_says_which_heads_are_settled(tmp_path):
    entries = [*race("A", [(2, 1), (0, 3)], []), *race("B", [(1, 1)], [(0, 0), (2, 2)], odd=2)]
    note = note_of(tmp_path / "atlas", entries)
    assert note.sentences[1:] == (
        "A: the 2 strongest heads are settled at 95 %: L2H1, L0H3; 12 % of all exact effects were measured. "
        "This allows each head 1 unseen example on which attribution is off by up to 6.7 nats.",
        "B: 1 of the 2 strongest heads is settled at 95 % (L1H1); 2 more heads may be among them, first L0H0, L2H2; a "
        "larger ablate.budget settles more; 12 % of all exact effects were measured. This allows each head 2 "
        "unseen examples on which attribution is off by up to 6.7 nats.",
    )
    assert note.lead == "the 2 strongest heads are settled at 95 % in 1 of 2 tasks; A: L2H1, L0H3."


def test_a_race_that_settles_nothing_says_so(tmp_path):
    entries = [*race("A", [], [(0, 0), (2, 2)]), *race("B", [(1, 1)], [(0, 0), (2, 2)])]
    note = note_of(tmp_path / "both", entries)
    assert note.sentences[1].startswith(
        "A: none of the 2 strongest heads is settled at 95 %; 2 heads may be among them, first L0H0, L2H2;"
    )
    assert note.lead == "no race is settled; B: 1 of the 2 strongest heads is settled at 95 % (L1H1)."
    alone = note_of(tmp_path / "one", race("A", [], [(0, 0)], asked=1))
    assert alone.lead == "A: the strongest head is not settled at 95 %."


def test_without_a_race_nothing_is_put_first(tmp_path):
    assert note_of(tmp_path / "atlas", [Diagnostic("ablate", "examples exact", 6.0, "A")]).lead == ""


def test_tasks_in_which_attribution_is_poor_are_named(tmp_path):
    def sentences(looked):
        entries = [
            Diagnostic("ablate", name, value, task)
            for task, number in looked.items()
            for name, value in (("examples exact", 6.0), ("heads looked at", number))
        ]
        return note_of(tmp_path / "-".join(looked), entries).sentences

    assert any(said.startswith("Attribution is poor in A: there heads") for said in sentences({"A": 3.0, "B": 0.0}))
    assert not any("poor" in said for said in sentences({"B": 0.0}))
