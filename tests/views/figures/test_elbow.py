"""Sizes in order, beside their null."""

import numpy as np

from headatlas.views.figures import draw
from tests.atlases import COGNITIVE
from tests.views.figures.reading import panels_by_title


def test_the_curve_its_null_band_and_the_count(full):
    figure = draw(full, "elbow")
    assert figure.get_supylabel() == "Size of information (logit) by probe"
    drawn = panels_by_title(figure)
    assert list(drawn) == list(COGNITIVE)  # in the order of the atlas
    for task, axes in drawn.items():
        entries = full.diagnostics[full.diagnostics["task"] == task]
        curve = entries[entries["metric"] == "curve"].sort_values("rank")
        count = entries[entries["metric"] == "elbow"]["value"].iloc[0]
        values, elbow = axes.lines
        np.testing.assert_array_equal(values.get_xdata(), np.arange(1, 271))
        np.testing.assert_array_equal(values.get_ydata(), curve["value"])
        assert elbow.get_xdata() == [count, count]
        assert axes.texts[0].get_text() == f"elbow at {count:.0f} of 270 heads"
        (band,) = axes.collections
        ends = [curve["null_low"].min(), curve["null_high"].max()]
        np.testing.assert_allclose(band.get_datalim(axes.transData).intervaly, ends)
