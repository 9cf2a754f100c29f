"""Maps of noise with effects put in by hand, and what is said about them."""

import numpy as np

from headatlas.patterns import find_patterns
from tests.atlases import write_atlas

LAYERS, HEADS = 20, 12
SHAPE = (LAYERS, HEADS)
LAYER = np.arange(LAYERS)[:, None] + np.zeros(SHAPE)
HEAD = np.arange(HEADS)[None, :] + np.zeros(SHAPE)


def supported(tmp_path, maps, kind, kv_heads=None):
    """The supported findings of a kind. What holds for all findings is checked on the way."""
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps, kv_heads=kv_heads), draws=400)
    statements = [finding.statement for finding in findings]
    assert len(set(statements)) == len(statements)  # nothing is said twice
    assert len({(f.kind, f.tasks, f.method, f.p is None) for f in findings}) == len(findings)
    for finding in findings:
        if finding.p is not None:
            assert 0 < finding.p <= 1 and finding.p <= finding.p_adjusted <= 1
            assert finding.supported == (finding.p_adjusted < 0.05)
            assert finding.null
    assert [f.supported for f in findings] == sorted((f.supported for f in findings), reverse=True)
    return [finding for finding in findings if finding.kind == kind and finding.supported]


def effects(rng, where, size=6.0):
    """Normal effects where asked, nothing elsewhere."""
    return np.where(where, size * rng.normal(size=SHAPE), 0)
