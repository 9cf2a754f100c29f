"""Attribution checks its own signs."""

import pytest

from headatlas.methods.attribute import Attribute
from headatlas.methods.signs import SIGNS_CHECKED, WRONG_SIGN, WRONG_SIGNS
from headatlas.planted import PLANTED
from tests.run.contexts import run_context


def entries(tmp_path, name):
    planted = PLANTED[name]
    measured = Attribute().measure(run_context(tmp_path, planted.build(), planted.suite(0)))
    return measured, {entry.metric: entry for entry in measured.diagnostics}


def test_a_wrong_sign_is_found_where_attention_is_saturated(tmp_path):
    measured, by_metric = entries(tmp_path, "saturated")
    assert by_metric[WRONG_SIGNS].value == 1
    wrong = by_metric[WRONG_SIGN]
    assert (wrong.layer, wrong.head) == (0, 1), "the previous-token head, on which everything rests"
    assert wrong.value > 5 and 0 < wrong.low < wrong.value < wrong.high
    needed = next(m for m in measured.maps if m.measure == "needed")
    assert needed.summary.mean[needed.heads.index((0, 1))] < -2


def test_right_signs_are_not_flagged(tmp_path):
    _, by_metric = entries(tmp_path, "harmful")
    assert by_metric[WRONG_SIGNS].value == 0
    assert by_metric[SIGNS_CHECKED].value == pytest.approx(8)
    assert WRONG_SIGN not in by_metric
