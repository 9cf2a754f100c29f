"""The atlas picture of the page, as data: the same facts as the static figure."""

import numpy as np
import pytest

from headatlas.patterns.functions import function_counts, head_functions
from headatlas.views.page.data import describe_page
from headatlas.views.page.functions import describe_functions, describe_marks
from tests.atlases import Known, rich_atlas, write_atlas

TASKS = ["A", "B"]


def known_atlas(folder, p=1e-6, missing=False):
    """L1H2 is for A, L3H0 for B and A; the last head is not measured where one is missing."""
    maps = []
    for task, heads in (("A", {(1, 2): 0.5, (3, 0): 0.125}), ("B", {(3, 0): 0.25})):
        value, p_values = np.zeros((4, 3)), np.ones((4, 3))
        for head, share in heads.items():
            value[head], p_values[head] = share, p
        if missing:
            value[3, 2] = np.nan
        for measure in ("needed", "share", "specific"):
            scale = 0.5 if measure == "specific" else 1
            maps.append(
                Known(scale * value, np.full((4, 3), 0.1), p_values, method="ablate", measure=measure, task=task)
            )
    return write_atlas(folder, maps)


def test_every_head_with_its_functions(tmp_path):
    atlas = known_atlas(tmp_path / "atlas")
    described = describe_functions(atlas, TASKS)
    rows = head_functions(atlas)
    one, both = described["heads"]
    assert (one[0], both[0]) == (1 * 3 + 2, 3 * 3 + 0)
    assert [function[0] for function in one[1] + both[1]] == [0, 1, 0], "the larger share first"
    depth, share, low, high, specific, q = one[1][0][1:]
    assert (depth, share, specific) == (1, 0.5, 0.25)
    assert [low, high, q] == pytest.approx(rows.loc[0, ["share_low", "share_high", "q_value"]].tolist(), rel=1e-3)
    assert described["counts"] == [(0, 2), (1, 1)]
    assert described["layers"] == [0, 1, 0, 1]
    assert described["shares"] == [0.125, 0.5]
    assert (described["nothing"], described["unmeasured"]) == (10, [])
    assert described["sentence"] == "2 heads have one function or more, for 10 nothing is shown."


def test_heads_that_were_not_measured_are_counted_apart(tmp_path):
    described = describe_functions(known_atlas(tmp_path / "atlas", missing=True), TASKS)
    assert (described["nothing"], described["unmeasured"]) == (9, [11])
    assert described["sentence"] == "2 heads have one function or more, for 9 nothing is shown; 1 was not measured."


def test_where_nothing_is_shown_it_says_so(tmp_path):
    described = describe_functions(known_atlas(tmp_path / "atlas", p=0.3), TASKS)
    assert described["heads"] == [] and described["shares"] is None
    assert described["counts"] == [(0, 0), (1, 0)] and described["nothing"] == 12
    assert described["sentence"] == (
        "No head is shown to be for one task more than for the others: no q is below 0.05."
    )


def test_the_numbers_are_those_of_the_figure(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", methods=["ablate"], tested=(), ablated=1.0)
    described = describe_page([atlas])
    functions, marks = described["atlases"][0]["functions"], described["functions"]
    rows = head_functions(atlas)
    assert {marks[task]["task"]: count for task, count in functions["counts"]} == function_counts(
        rows, atlas.tasks_of("ablate")
    )
    assert sum(len(of_head) for _, of_head in functions["heads"]) == len(rows) > 50
    assert functions["share"] == "share (of positive effects; margin, against the twin)"


def test_two_atlases_give_a_task_the_same_hue(tmp_path):
    first, second = (known_atlas(tmp_path / name) for name in "ab")
    other = rich_atlas(tmp_path / "c", ["C", "B"], (4, 4), methods=["ablate"], tested=(), unmapped=(), ablated=1.0)
    assert describe_marks([first, second]) == describe_marks([first])
    marks = describe_marks([first, other])
    assert [mark["task"] for mark in marks] == ["A", "B", "C"]
    assert len({mark["light"] for mark in marks}) == len({mark["letters"] for mark in marks}) == 3
    described = describe_functions(other, [mark["task"] for mark in marks])
    assert [task for task, _ in described["counts"]] == [2, 1]


def test_without_a_measure_of_what_is_specific_there_is_no_picture(tmp_path):
    one_task = [Known(np.ones((4, 3)), method="ablate", measure=measure) for measure in ("needed", "share")]
    for i, maps in enumerate([one_task, [Known(np.ones((4, 3)))]]):
        described = describe_page([write_atlas(tmp_path / str(i), maps)])
        assert described["atlases"][0]["functions"] is None and described["functions"] == []
