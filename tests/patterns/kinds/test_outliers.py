import numpy as np

from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas
from tests.patterns.injected import LAYER, SHAPE, supported


def test_a_head_far_above_its_layer_is_named(tmp_path, rng):
    effect = 3 * rng.normal(size=SHAPE)
    effect[6, 11] = 60
    (finding,) = supported(tmp_path, [measured(effect, 1.0, rng)], "outliers")
    assert finding.heads == ((6, 11),) and finding.value == 1
    assert "L6H11 stands out from the trend of the layers" in finding.statement


def test_maps_that_are_mostly_zero_have_no_trend(tmp_path, rng):
    """A gate that closes most heads of the first layers: their median is zero, and nothing is a multiple of it."""
    value = np.where((LAYER >= 4) | (rng.random(SHAPE) < 0.1), rng.random(SHAPE), 0.0)
    findings = find_patterns(write_atlas(tmp_path / "atlas", [Known(value)]), draws=100)
    (finding,) = [finding for finding in findings if "outliers" in finding.kind]
    assert finding.statement == (
        "Not tested for Task: outliers. Reason: most heads of some layers have a value of zero."
    )
    assert all(np.isfinite(f.effect) for f in findings if f.effect is not None)
