"""Curves over a number of heads: what is drawn is read back and compared with the table."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from headatlas.views.figures import draw
from headatlas.wording import p_value
from tests.atlases import COGNITIVE, rewrite_evidence, rich_atlas
from tests.views.figures.reading import change_intervals, evidence_rows, intervals, line, panels_by_title


@pytest.mark.parametrize(("figure", "metric"), [("mask", "logprob"), ("mask_accuracy", "accuracy")])
def test_changes_their_intervals_and_the_spread_of_the_draws(full, figure, metric):
    drawn = panels_by_title(draw(full, figure))
    assert list(drawn) == list(COGNITIVE)
    for task, axes in drawn.items():
        wanted = {"test": "mask", "method": "probe", "task": task, "metric": metric}
        for control in ("top", "lowest"):
            rows = evidence_rows(full, control=control, **wanted)
            k, change = line(axes, control)
            np.testing.assert_array_equal(k, rows["k"])
            np.testing.assert_allclose(change, rows["value"] - rows["intact"])
            assert change_intervals(rows, rows["k"]) <= intervals(axes)
        random = evidence_rows(full, control="random", **wanted)
        by_k = (random["value"] - random["intact"]).groupby(random["k"])
        np.testing.assert_allclose(line(axes, "random")[1], by_k.mean())
        (band,) = [c for c in axes.collections if not isinstance(c, LineCollection)]
        bottom, top = band.get_datalim(axes.transData).intervaly
        assert bottom == pytest.approx(by_k.quantile(0.025).min())
        assert top == pytest.approx(by_k.quantile(0.975).max())


def test_p_stands_at_the_most_heads_and_only_sure_points_are_filled(full):
    unsure = 0
    for task, axes in panels_by_title(draw(full, "mask")).items():
        compared = evidence_rows(full, "random", test="mask", method="probe", task=task)
        last = compared.iloc[-1]
        assert [t.get_text() for t in axes.texts] == [f"q = {p_value(last['q_value'])} with {last['k']:.0f} removed"]
        sure = compared[compared["q_value"] < 0.05]
        np.testing.assert_array_equal(line(axes, "sure")[0], sure["k"])
        unsure += len(compared) - len(sure)
    assert unsure > 0  # else nothing was told apart
    assert not any(axes.texts for axes in panels_by_title(draw(full, "mask_accuracy")).values())


def test_the_axes_say_what_was_done_by_whom_and_by_what_rule(full):
    figure = draw(full, "mask")
    assert figure.get_supxlabel() == "Heads removed, ranked by probe, largest information first"
    assert figure.get_supylabel() == "Change of log-probability (nats)"
    assert draw(full, "mask", "gate").get_supxlabel() == "Heads removed, ranked by gate, largest facilitation first"
    assert draw(full, "mask_accuracy").get_supylabel() == "Change of accuracy"


def test_the_axis_of_head_counts_names_the_usual_ones(full):
    for task, axes in panels_by_title(draw(full, "mask")).items():
        counts = sorted({int(k) for k in evidence_rows(full, test="mask", method="probe", task=task)["k"]})
        assert axes.get_xscale() == "log"
        assert list(axes.get_xticks()) == counts
        labels = [label.get_text() for label in axes.get_xticklabels()]
        usual = ["1", "2", "4", "8", "16", "32"]
        assert [label for label in labels if label in usual] == usual
        assert all(label in ("", str(k)) for label, k in zip(labels, counts, strict=True))


def test_where_no_random_heads_are_left_the_rest_is_drawn(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], tested=["probe"], draws=5)
    table = atlas.evidence
    compared = (table["control"] == "random") | table["compared_with"].notna()
    changed = rewrite_evidence(atlas, table[~(compared & ((table["k"] > 8) | (table["task"] == "b")))])
    for name in ("mask", "keep"):
        a, b = draw(changed, name).axes
        assert line(a, "random")[0].max() == 8
        assert not len(line(b, "random")[0])
        assert line(a, "top")[0].max() >= 32
    a, b = draw(changed, "mask").axes
    assert a.texts[0].get_text().endswith("with 8 removed")
    assert not b.texts


def test_a_single_number_of_heads_has_its_lines_side_by_side_before_a_band_across_the_panel(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a"], methods=["attribute"], tested=["attribute"], ks=(8,), draws=20)
    (axes,) = draw(atlas, "mask").axes
    left, right = axes.get_xlim()
    drawn = evidence_rows(atlas, test="mask", control="random", metric="logprob")
    change = drawn["value"] - drawn["intact"]
    np.testing.assert_array_equal(line(axes, "random")[0], (0, 1))  # of the width of the panel
    np.testing.assert_allclose(line(axes, "random")[1], change.mean())
    (band,) = axes.patches
    assert (band.get_x(), band.get_width()) == (0, 1)
    low, high = band.get_y(), band.get_y() + band.get_height()
    np.testing.assert_allclose((low, high), (change.quantile(0.025), change.quantile(0.975)))
    (top,), (lowest,) = line(axes, "top")[0], line(axes, "lowest")[0]
    assert left < top < 8 < lowest < right and top * lowest == pytest.approx(64)
