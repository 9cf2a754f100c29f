"""Ablation in the order of roles."""

import numpy as np

from headatlas.views.colours import ROLES
from headatlas.views.figures import draw
from tests.views.figures.reading import evidence_rows


def test_changes_are_drawn_in_the_colour_of_their_role_and_points_beside_the_curve_are_not(full):
    figure = draw(full, "order")
    axes = figure.axes[0]
    rows = evidence_rows(full, test="order", task=axes.get_title())
    curves = {line.get_color(): line for line in axes.lines if line.get_marker() == "o"}
    assert set(curves) == {ROLES[role] for role in ("facilitation", "irrelevance", "interference")}
    for role in ("facilitation", "irrelevance", "interference"):
        curve = rows[(rows["control"] == role) & rows["factor"].isna()]
        np.testing.assert_array_equal(curves[ROLES[role]].get_xdata(), curve["k"])
        np.testing.assert_allclose(curves[ROLES[role]].get_ydata(), curve["value"] - curve["intact"])
    assert len(axes.collections) == 3  # an interval for every role
    draws = [line for line in axes.lines if line.get_marker() == "None" and len(line.get_xdata()) > 2]
    assert len(draws) == rows["draw"].nunique() == 3
    assert axes.get_ylabel() == "Change of log-probability (nats)"
