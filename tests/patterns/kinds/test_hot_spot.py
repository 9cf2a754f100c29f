import numpy as np

from headatlas.patterns import find_patterns
from tests.atlases import measured, write_atlas
from tests.patterns.injected import HEAD, LAYER, SHAPE, supported


def test_a_square_of_large_effects_is_a_hot_spot(tmp_path, rng):
    spot = (LAYER >= 8) & (LAYER < 11) & (HEAD >= 5) & (HEAD < 8)
    effect = np.where(spot, 12 * np.sign(rng.normal(size=SHAPE)), 2 * rng.normal(size=SHAPE))
    (finding,) = supported(tmp_path, [measured(effect, 1.0, rng)], "hot spot")
    assert len(set(finding.heads) & set(map(tuple, np.argwhere(spot).tolist()))) >= 6
    assert finding.value > 2


def test_a_layer_of_large_effects_alone_is_no_hot_spot(tmp_path, rng):
    effect = np.where(LAYER == 8, 12, 2) * rng.normal(size=SHAPE)
    assert supported(tmp_path, [measured(effect, 1.0, rng)], "hot spot") == []


def test_layers_of_two_heads_have_no_window_to_compare(tmp_path, rng):
    findings = find_patterns(write_atlas(tmp_path / "atlas", [measured(9 * rng.normal(size=(6, 2)), 1.0, rng)]))
    (finding,) = [finding for finding in findings if "hot spot" in finding.kind]
    assert finding.p is None
    assert finding.statement == "Not tested for Task: hot spot. Reason: the layers have at most 2 heads."
