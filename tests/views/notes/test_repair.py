"""The warning of self-repair."""

import re

import numpy as np
import pytest

import headatlas as ha
from headatlas.atlas.records import Diagnostic
from headatlas.planted import PLANTED
from headatlas.views.notes import method_notes
from headatlas.views.notes.repair import NOT_ASKED, backups_not_asked
from tests.atlases import Known, write_atlas
from tests.views.report.reading import report


def repaired(folder, p):
    value = np.full((2, 3), np.nan)
    value[1, 2] = 3.1
    known = Known(value, np.full((2, 3), 0.1), np.full((2, 3), p), method="repair", task="A")
    numbers = {"takes over from": (1, 2, 1.0), "effect of both": (1, 2, 5.62), "total effect": (0, 1, 2.4),
               "direct effect": (0, 1, 5.5), "effect of all together": (None, None, 5.7),
               "sum of single effects": (None, None, 2.6)}  # fmt: skip
    entries = [Diagnostic("repair", m, value, "A", layer=i, head=j) for m, (i, j, value) in numbers.items()]
    return write_atlas(folder, [known], diagnostics=entries)


def test_a_head_that_takes_over_is_a_warning(tmp_path):
    (note,) = method_notes(repaired(tmp_path / "atlas", 1e-6))
    assert note.title == "Self-repair: heads that take over from each other"
    first, of_set, last = note.sentences
    assert first.startswith("A: L1H2 takes over where L0H1 is missing. Without both the task loses 5.62 nats, 3.10 (")
    assert first.endswith(
        ") more than the sum of what it loses without each. Without L0H1 alone it loses 2.40 in total, and would lose "
        "5.50 directly, if no other head reacted."
    )
    assert of_set == (
        "A: without all of the heads that were tried together it loses 5.70 nats; their single effects sum to 2.60."
    )
    assert last == "What is measured one head at a time says too little about such heads."


def test_the_report_of_a_model_with_a_backup_head_warns(tmp_path):
    """From the model to the report: the numbers are near those that editing weights gives (4.99 and 2.00 nats)."""
    planted = PLANTED["backup"]
    atlas = ha.map(planted.build(), planted.suite(0), ["ablate", "repair"], out=tmp_path / "atlas", report=False)
    text = report(atlas, findings=[])
    assert "### Self-repair: heads that take over from each other" in text
    lost = re.search(r"Pick: L2H3 takes over where L0H4 is missing. Without both the task loses ([\d.]+) nats", text)
    single = re.search(r"Without L0H4 alone it loses ([\d.]+) in total, and would lose ([\d.]+) directly", text)
    assert float(lost[1]) == pytest.approx(5.0, abs=0.5)
    assert [float(number) for number in single.groups()] == pytest.approx([2.0, 5.0], abs=0.5)
    assert NOT_ASKED not in text


def test_a_report_on_single_heads_says_that_backups_were_not_looked_for(tmp_path):
    assert backups_not_asked(write_atlas(tmp_path / "one", [Known(np.ones((2, 3)), method="ablate")])) == [NOT_ASKED]
    assert backups_not_asked(write_atlas(tmp_path / "two", [Known(np.ones((2, 3)), method="probe")])) == []
    growing = write_atlas(tmp_path / "three", [Known(np.ones((2, 3)), method="ablate")])
    growing.run.pending = ["repair"]
    assert backups_not_asked(growing) == []


def test_an_unsure_takeover_is_none(tmp_path):
    assert method_notes(repaired(tmp_path / "atlas", 0.2)) == []
