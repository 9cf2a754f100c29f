"""Wrong signs of attribution in words."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.methods.signs import WRONG_SIGN
from headatlas.views.notes import method_notes
from headatlas.views.notes.attribute import WRONG_SIGN as READ
from tests.atlases import Known, write_atlas


def test_a_wrong_sign_is_reported(tmp_path):
    known = Known(np.array([[-2.66, 0.1], [0.2, 2.0]]), method="attribute", task="A")
    entry = Diagnostic("attribute", WRONG_SIGN, 14.0, "A", layer=0, head=0, low=12.5, high=15.5)
    assert READ == WRONG_SIGN
    (note,) = method_notes(write_atlas(tmp_path / "atlas", [known], diagnostics=[entry]))
    assert note.sentences == (
        "A: L0H0 has −2.66 by attribution, but +14.00 (+12.50 to +15.50) when it is measured exactly. Attention is "
        "saturated there or the effect is far from linear: believe ablation.",
    )


def test_there_is_no_note_without_a_wrong_sign(tmp_path):
    known = Known(np.ones((2, 2)), method="attribute", task="A")
    assert method_notes(write_atlas(tmp_path / "atlas", [known])) == []
