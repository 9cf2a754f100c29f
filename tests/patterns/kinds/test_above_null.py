import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas
from tests.patterns.injected import HEADS, LAYERS, SHAPE, supported


def test_heads_are_named_by_the_size_of_their_effect(tmp_path, rng):
    effect = np.zeros(SHAPE)
    effect[3, 4], effect[9, 1] = 20, -30
    (finding,) = supported(tmp_path, [measured(effect, 1.0, rng)], "above null")
    assert finding.heads[:2] == ((9, 1), (3, 4))
    assert finding.value == len(finding.heads)
    assert finding.effect == finding.value / (LAYERS * HEADS)
    assert finding.statement.startswith(
        f"Task: {finding.value:.0f} of 240 heads differ from zero (q < 0.05); largest effects: L9H1, L3H4"
    )


@pytest.mark.parametrize(
    ("smallest", "said"),
    [
        (0.3, "Task0: no head is shown to differ from zero (smallest q 1, 24 heads)."),
        (0.0015, "Task0: 1 of 24 heads differs from zero (q < 0.05); largest effects: L0H0, but not after correction"),
    ],
)
def test_what_is_said_when_the_null_is_not_rejected(tmp_path, smallest, said):
    p = np.linspace(0.7, 1, 24).reshape(6, 4)
    p[0, 0] = smallest
    value = np.ones((6, 4))
    value[0, 0] = 2.0
    maps = [Known(value, np.ones((6, 4)), p, task=f"Task{i}") for i in range(3)]
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps), draws=100)
    (finding,) = [f for f in findings if f.kind == "above null" and f.tasks == ("Task0",)]
    assert not finding.supported and finding.heads == ()
    assert finding.statement.startswith(said)
