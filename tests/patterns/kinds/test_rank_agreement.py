import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas
from tests.patterns.injected import SHAPE, supported


@pytest.mark.parametrize("sign", [1, -1])
def test_methods_that_see_the_same_effects_agree(tmp_path, rng, sign):
    effect = 3 * rng.normal(size=SHAPE)
    maps = [measured(effect, 1.0, rng), measured(sign * effect, 1.0, rng, method="ablate")]
    (finding,) = supported(tmp_path, maps, "agreement")
    assert np.sign(finding.value) == sign and finding.method == "attribute, ablate"
    assert ("alike" if sign > 0 else "in opposite order") in finding.statement


@pytest.mark.parametrize(("sign", "shared"), [(1, 10), (-1, 0)])
def test_top_heads_are_those_with_the_largest_values(tmp_path, rng, sign, shared):
    """By size the two maps would have all their top heads in common, whatever the sign."""
    value = rng.normal(size=SHAPE)
    atlas = write_atlas(tmp_path / "atlas", [Known(value), Known(sign * value, method="ablate")])
    (finding,) = [finding for finding in find_patterns(atlas, draws=100) if finding.kind == "agreement"]
    assert f"; {shared} of their 10 top heads are the same, 0 expected by chance." in finding.statement


def test_methods_without_a_task_in_common_are_not_compared(tmp_path, rng):
    maps = [Known(rng.normal(size=SHAPE), task="A"), Known(rng.normal(size=SHAPE), task="B", method="ablate")]
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps), draws=100)
    (finding,) = [finding for finding in findings if finding.kind == "agreement"]
    assert finding.p is None
    assert finding.statement.startswith("Not tested for attribute and ablate: agreement. Reason: no task was measured")


def test_stability_over_seeds(tmp_path, rng):
    effect = 3 * rng.normal(size=SHAPE)
    (finding,) = supported(tmp_path, [measured(effect, 1.0, rng, seed=seed) for seed in range(3)], "stability")
    assert finding.value > 0.6
    assert finding.statement.startswith("Different seeds of attribute rank heads alike: ")
