from tests.atlases import measured
from tests.patterns.injected import SHAPE, effects, supported


def test_tasks_with_effects_on_the_same_heads_share_them(tmp_path, rng):
    common = rng.random(SHAPE) < 0.15
    maps = [measured(effects(rng, common, 15), 1.0, rng, task=name) for name in "ABCD"]
    (finding,) = supported(tmp_path, maps, "shared heads")
    assert finding.tasks == tuple("ABCD") and finding.effect > 5
    assert finding.statement.startswith(
        f"The tasks share heads: two of the 4 tasks have on average {finding.value:.1f} heads above the null in common"
    )
    assert finding.heads and all(common[head] for head in finding.heads)


def test_two_tasks_share_a_whole_number_of_heads(tmp_path, rng):
    common = rng.random(SHAPE) < 0.15
    maps = [measured(effects(rng, common, 15), 1.0, rng, task=name) for name in "AB"]
    (finding,) = supported(tmp_path, maps, "shared heads")
    assert finding.value == round(finding.value)
    assert finding.statement.startswith(f"The tasks share heads: the two tasks have {finding.value:.1f} heads")
