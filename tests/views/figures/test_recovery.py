"""What heads carry by themselves: fractions, and the numbers that sum up their curve."""

import numpy as np

from headatlas.views.figures import draw
from tests.views.figures.reading import evidence_rows, intervals, line, panels_by_title


def test_fractions_their_intervals_and_the_areas(full):
    figure = draw(full, "keep")
    assert figure.get_supxlabel() == "Heads kept, ranked by probe, largest information first"
    assert figure.get_supylabel() == "Recovered fraction"
    for task, axes in panels_by_title(figure).items():
        wanted = {"test": "keep", "method": "probe", "task": task}
        top = evidence_rows(full, control="top", metric="fraction", **wanted)
        np.testing.assert_array_equal(line(axes, "top")[0], [4, 8, 16, 32, 64, 128])
        np.testing.assert_allclose(line(axes, "top")[1], top["value"])
        ends = {tuple(np.round(end, 9)) for end in zip(top["k"], top["low"], top["high"], strict=True)}
        assert intervals(axes) == ends
        random = evidence_rows(full, control="random", metric="fraction", **wanted)
        np.testing.assert_allclose(line(axes, "random")[1], random.groupby("k")["value"].mean())
        cpr, cmd = axes.texts[0].get_text().splitlines()
        area = evidence_rows(full, control="top", metric="cpr", **wanted).iloc[0]
        assert cpr == f"CPR {area['value']:.2f} ({area['low']:.2f} to {area['high']:.2f}); random 0.45"
        assert cmd.startswith(f"CMD {1 - area['value']:.2f} (") and cmd.endswith("; random 0.55")
