"""What the heads of each task do to the others: every pair, the comparison on the task itself, and neutral text."""

import pytest

from headatlas.views.figures import draw
from headatlas.views.figures.style import short_signed
from headatlas.wording import decimal
from tests.atlases import COGNITIVE
from tests.views.figures.reading import change_intervals, evidence_rows, intervals

PROBE = {"test": "specificity", "method": "probe"}


def test_every_pair_is_drawn_the_own_tasks_outlined_and_zero_is_white(full):
    matrix = draw(full, "specificity").axes[0]
    (image,) = matrix.get_images()
    assert image.get_clim()[0] == -image.get_clim()[1]
    measured = [*COGNITIVE, "Neutral"]
    assert [label.get_text() for label in matrix.get_xticklabels()] == measured
    texts = {text.get_position(): text.get_text() for text in matrix.texts}
    for i, task in enumerate(COGNITIVE):
        for j, eval_task in enumerate(measured):
            rows = evidence_rows(full, task=task, eval_task=eval_task, control="top", metric="logprob", **PROBE)
            change = (rows["value"] - rows["intact"]).iloc[0]
            assert image.get_array()[i, j] == pytest.approx(change)
            assert texts[j, i] == short_signed(change)
    corners = {(round(patch.get_x() + 0.47), round(patch.get_y() + 0.46)) for patch in matrix.patches}
    assert corners == {(i, i) for i in range(8)}


def test_the_comparison_with_other_heads_is_filled_where_it_is_sure(full):
    differences = draw(full, "specificity").axes[1]
    rows = evidence_rows(full, "other tasks' heads", metric="logprob", **PROBE).set_index("task")
    points = [point for point in differences.lines if point.get_marker() == "o"]
    filled = set()
    for i, (task, point) in enumerate(zip(COGNITIVE, points, strict=True)):
        assert point.get_xdata()[0] == rows["value"][task] and point.get_ydata()[0] == i
        is_sure = not rows["low"][task] <= 0 <= rows["high"][task]
        assert (point.get_markerfacecolor() != "white") == is_sure
        filled.add(is_sure)
    assert filled == {True, False}
    assert intervals(differences) == change_intervals(rows, range(8))
    assert differences.get_title() == "Less other tasks' heads\nlog-probability (nats)"


def test_neutral_text_and_the_colour_bar(full):
    matrix, _, perplexity, bar = draw(full, "specificity").axes
    masked = evidence_rows(full, metric="perplexity", **PROBE).set_index("task")["value"]
    assert [t.get_text() for t in perplexity.texts] == [f"21.7 → {decimal(masked[task], 1)}" for task in COGNITIVE]
    assert bar.get_xlabel() == "Change of log-probability (nats)"
    assert matrix.get_ylabel() == "16 heads removed,\nby probe\n(largest information first), of"
