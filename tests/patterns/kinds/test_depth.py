import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas
from tests.patterns.injected import LAYER, SHAPE, effects, supported


@pytest.mark.parametrize(("where", "word"), [(LAYER >= 12, "late"), (LAYER < 8, "early")])
def test_depth_and_its_band(tmp_path, rng, where, word):
    maps = [measured(effects(rng, where), 1.0, rng)]
    (centre,) = supported(tmp_path, maps, "depth")
    assert f"Task lies {word}: its centre of mass is layer {centre.value:.1f} of 0 to 19" in centre.statement
    assert (centre.effect > 0) == (word == "late")
    (band,) = supported(tmp_path, maps, "layers")
    assert band.value > 0.6 and band.effect > 0.2
    layers = "layers 12 to 19 hold" if word == "late" else "layers 0 to 7 hold"
    assert band.statement.startswith(f"Task has a band of layers with large effects: {layers}")


@pytest.mark.parametrize(
    ("where", "word"), [(np.abs(LAYER - 9.5) < 3, "concentrated"), (np.abs(LAYER - 9.5) > 7, "apart")]
)
def test_spread(tmp_path, rng, where, word):
    (finding,) = supported(tmp_path, [measured(effects(rng, where), 1.0, rng)], "spread")
    assert word in finding.statement
    assert (finding.effect < 0) == (word == "concentrated")


def test_maps_without_errors_have_a_depth_too(tmp_path, rng):
    maps = [Known(np.abs(effects(rng, LAYER >= 12)) + rng.random(SHAPE), measure="facilitation", method="gate")]
    (finding,) = supported(tmp_path, maps, "depth")
    assert finding.measure == "facilitation" and finding.effect > 0


def test_a_small_shift_is_called_slight(tmp_path):
    rng = np.random.default_rng(0)
    growing = 1 + 0.1 * np.arange(40)[:, None] / 39
    atlas = write_atlas(tmp_path / "atlas", [measured(10 * growing * rng.choice([-1, 1], (40, 64)), 1.0, rng)])
    (finding,) = [finding for finding in find_patterns(atlas, draws=200) if finding.kind == "depth"]
    assert finding.supported and 0 < finding.effect < 0.02
    assert finding.statement.startswith("Task lies slightly late: ")
