"""Heads of one task measured on another: differences from the reference, and both sides of them."""

from headatlas.suites.cognitive.functions import HIGH, LOW
from headatlas.views.figures import draw
from headatlas.views.figures.style import short_signed
from headatlas.views.figures.task_pairs import draw_matrix
from headatlas.views.rows import outcome
from tests.views.figures.reading import evidence_rows


def test_the_difference_is_drawn_marked_where_sure_with_both_sides_below(full):
    figure = draw(full, "hierarchy")
    axes, bar = figure.axes
    (image,) = axes.get_images()
    texts = iter(axes.texts)
    marks = set()
    for i, low in enumerate(LOW):
        for j, high in enumerate(HIGH):
            wanted = {"test": "hierarchy", "method": "probe", "task": low, "eval_task": high, "metric": "logprob"}
            difference = evidence_rows(full, "random", **wanted).iloc[0]
            assert image.get_array()[i, j] == difference["value"]
            is_sure = bool(difference["low"] > 0 or difference["high"] < 0)
            marks.add(is_sure)
            large, below = next(texts), next(texts)
            assert large.get_text() == short_signed(difference["value"]) + "*" * is_sure
            assert large.get_weight() == ("bold" if is_sure else "normal")
            levels = evidence_rows(full, **wanted)
            change = (levels["value"] - levels["intact"]).groupby(levels["control"]).mean()
            assert below.get_text() == f"top {short_signed(change['top'])}\nrandom {short_signed(change['random'])}"
    assert marks == {True, False}
    assert bar.get_xlabel().startswith("Change of log-probability (nats), top less random")


def test_a_matrix_is_drawn_by_pairs_only_where_pairs_are_compared(full):
    pairs = draw_matrix(outcome(full, "hierarchy", "probe"))
    own = draw_matrix(outcome(full, "specificity", "probe"))
    assert len(pairs.axes) == 2  # the matrix and its bar
    assert len(own.axes) == 4  # beside them the comparison on each task, and neutral text
