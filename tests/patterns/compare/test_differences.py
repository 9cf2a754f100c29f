"""Heads that differ beyond noise: seldom where none does, often where some do."""

import numpy as np
import pytest

from headatlas.noise import noise_of
from headatlas.patterns.compare.differences import differences
from headatlas.patterns.compare.noise import Noise
from headatlas.patterns.maps import TaskMap
from headatlas.stats import q_values, summarise

HEADS, GROUPS, REPEATS = 60, 16, 200


def task_map(effects, name):
    groups = [str(i) for i in range(len(effects))]
    summary = summarise(effects, groups)
    heads = np.arange(effects.shape[1])
    nothing = np.full(len(heads), np.nan)
    one = TaskMap("T", (len(heads), 1), 1, heads, heads * 0, summary.mean, summary.stderr, nothing, len(effects) - 1.0)
    return one, Noise(noise_of(effects, groups).parts, name, summary.stderr)


def discoveries(first, second, names="ab", with_noise=True):
    (a, noise_a), (b, noise_b) = (task_map(e, name) for e, name in zip((first, second), names, strict=True))
    found = differences((a, b), (noise_a, noise_b) if with_noise else (None, None))
    return q_values(found.p_value) < 0.05


def draw(rng, kind, shape):
    return rng.standard_normal(shape) if kind == "normal" else rng.standard_exponential(shape) - 1


@pytest.mark.parametrize("kind", ["normal", "exponential"])
@pytest.mark.parametrize("how", ["noise", "errors", "same examples"])
def test_where_nothing_differs_hardly_anything_is_said(kind, how):
    rng = np.random.default_rng(0)
    effect = rng.standard_normal(HEADS)
    said = 0
    for _ in range(REPEATS):
        first, second = (effect + draw(rng, kind, (GROUPS, HEADS)) for _ in range(2))
        if how == "same examples":
            common = 3 * draw(rng, kind, (GROUPS, HEADS))
            first, second = first + common, second + common
        same = how == "same examples"
        said += bool(discoveries(first, second, "aa" if same else "ab", how != "errors").any())
    assert said / REPEATS < 0.08


def test_what_differs_is_found_and_pairs_find_more():
    rng = np.random.default_rng(0)
    common = 4 * rng.standard_normal((GROUPS, HEADS))
    shift = np.r_[np.full(10, 2.0), np.zeros(HEADS - 10)]
    first, second = (common + 0.5 * rng.standard_normal((GROUPS, HEADS)) + part for part in (shift, 0 * shift))
    paired, apart = discoveries(first, second, "aa"), discoveries(first, second, "ab")
    assert paired[:10].all() and not paired[10:].any()
    assert not apart.any()


def test_a_map_without_errors_allows_no_difference():
    (a, noise), (b, _) = (task_map(np.random.default_rng(i).normal(size=(8, 9)), "x") for i in range(2))
    bare = TaskMap(*(b.task, b.shape, b.kv_heads, b.layer, b.head, b.value, np.zeros(9), b.p, np.inf))
    assert differences((a, bare), (noise, None)) is None


def test_an_error_beyond_the_parts_counts():
    """A certificate that says more error than the examples show widens the interval of a difference."""
    rng = np.random.default_rng(0)
    (a, noise), (b, other) = (task_map(rng.normal(size=(12, 9)), "same") for _ in range(2))
    wide = Noise(noise.parts, "same", 5 * noise.stderr)
    narrow, wider = differences((a, b), (noise, other)), differences((a, b), (wide, other))
    np.testing.assert_allclose(wider.stderr**2 - narrow.stderr**2, (25 * noise.stderr**2 - noise.stderr**2), rtol=1e-6)
