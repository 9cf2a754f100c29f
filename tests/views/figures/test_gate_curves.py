"""The course of gate fits."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.views.figures import draw
from tests.atlases import Known, write_atlas


def test_every_seed_and_stage_is_drawn(tmp_path):
    entries = [
        Diagnostic("gate", f"{stage}_{curve}", float(seed + step), "M", seed, step=step)
        for stage in ("base", "plus", "minus")
        for curve in ("objective", "choose_objective", "open")
        for seed in (0, 1)
        for step in (3, 1, 2, 0)
    ]
    maps = [Known(np.full((2, 2), 0.5), method="gate", measure="facilitation", task="M")]
    figure = draw(write_atlas(tmp_path / "atlas", maps, diagnostics=entries), "gate_curves")
    assert len(figure.axes) == 4
    for axes in figure.axes[:3]:
        assert len(axes.lines) == 4  # two seeds, fit and choose
    np.testing.assert_array_equal(figure.axes[0].lines[1].get_ydata(), [1, 2, 3, 4])
    assert len(figure.axes[3].lines) == 6
    assert len({line.get_color() for line in figure.axes[3].lines}) == 2
