"""Notes and single numbers of the methods."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from tests.atlases import Known, rich_atlas, write_atlas
from tests.views.report.reading import report, section


def test_notes_have_sections_of_their_own(tmp_path):
    text = report(rich_atlas(tmp_path / "atlas", ["A|B", "C"], (6, 4), tested=[]), findings=[])
    circuits = section(text, "Circuits that gates found", 3)
    assert "- A\\|B: 3 fits, urged to close, with " in circuits
    assert "| gain over text | +0.08 | +0.03 to +0.13 | better than the text alone |" in section(
        text, "Telling the tasks apart by what the heads write", 3
    )


def test_seeds_are_averaged_and_curves_left_to_figures(tmp_path):
    entries = [Diagnostic("gate", "best", value, "A", seed, low=0.0, high=9.0) for seed, value in enumerate((2, 4))]
    entries += [
        Diagnostic("gate", "course", 1, "A", step=1),
        Diagnostic("gate", "per head", 1, "A", layer=0, head=0),
        Diagnostic("gate", "pair", 1, "A", other_seed=1),
    ]
    maps = [Known(np.ones((2, 2)), method="gate", measure="facilitation", task="A")]
    text = report(write_atlas(tmp_path / "atlas", maps, diagnostics=entries), findings=[])
    assert "| gate | best | A | 3 | – | – | 2 |" in text
    assert "course" not in text and "per head" not in text and "pair" not in text
