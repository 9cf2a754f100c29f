"""Functions are told apart by letters too, and their hues on light and on dark ground."""

import numpy as np
import pytest

from headatlas.views.colours import ROLES
from headatlas.views.functions import HUES, STEPS, WEAKEST, depths, function_marks, initials


def test_letters_differ_for_all():
    letters = initials(["Retrieval", "Recall", "Retrieval of words", "Math", "R", "", "-"])
    assert len(set(letters.values())) == 7
    assert letters["Retrieval"] == "R" and letters["Math"] == "M"
    assert max(map(len, letters.values())) == 2


def test_hues_repeat_only_where_there_are_more_tasks_than_hues():
    marks = list(function_marks([f"task {i}" for i in range(len(HUES) + 1)]).values())
    assert len({mark.light for mark in marks[:-1]}) == len({mark.dark for mark in marks[:-1]}) == len(HUES)
    assert marks[-1].light == marks[0].light and marks[-1].letters != marks[0].letters


@pytest.mark.parametrize("ground", [0, 1])
def test_no_hue_is_a_grey_like_heads_without_a_function(ground):
    for hue in HUES:
        parts = [int(hue[ground][i : i + 2], 16) for i in (1, 3, 5)]
        assert max(parts) - min(parts) > 60, hue
    assert ROLES["irrelevance"] not in {hue[ground] for hue in HUES}


def test_the_largest_share_has_the_full_colour_and_small_ones_can_be_seen():
    drawn = depths(np.array([0.4, 0.1, 0.0]))
    assert drawn.tolist() == pytest.approx([1, WEAKEST + (1 - WEAKEST) / 2, WEAKEST], abs=0.5 / STEPS)
    assert len(depths(np.array([]))) == 0
