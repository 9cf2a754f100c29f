import numpy as np
import pytest

from headatlas.patterns import find_patterns
from tests.atlases import Known, measured, write_atlas
from tests.patterns.injected import HEAD, LAYER, SHAPE, supported


def test_a_head_of_one_task_is_named_for_it(tmp_path, rng):
    common = 4 * rng.normal(size=SHAPE)
    maps = [
        measured(common + np.where((LAYER == 5) & (i == HEAD), 40, 0), 1.0, rng, task=name)
        for i, name in enumerate("ABC")
    ]
    by_task = {finding.tasks[0]: finding for finding in supported(tmp_path, maps, "specific heads")}
    assert {task: finding.heads for task, finding in by_task.items()} == {
        "A": ((5, 0),),
        "B": ((5, 1),),
        "C": ((5, 2),),
    }
    assert by_task["A"].statement.startswith(
        "A has 1 head with a larger effect than in each of the 2 others: L5H0; L5H0 has "
    )


def test_maps_without_errors_are_not_compared_head_by_head(tmp_path, rng):
    maps = [measured(6 * rng.normal(size=SHAPE), 1.0, rng, task="A"), Known(rng.normal(size=SHAPE), task="B")]
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps), draws=100)
    (finding,) = [finding for finding in findings if finding.kind == "specific heads"]
    assert finding.statement == "Not tested for A, B: specific heads. Reason: not all maps have standard errors."


def test_effects_are_finite_where_no_common_head_stands_above_the_null(tmp_path, rng):
    """The only effects of A are on heads that were not measured for B."""
    first = measured(np.where(LAYER < 4, 30.0, 0.0), 1.0, rng, task="A")
    second = measured(np.where(LAYER > 8, 30.0, 0.0), 1.0, rng, task="B")
    second.value[LAYER < 4] = np.nan
    findings = find_patterns(write_atlas(tmp_path / "atlas", [first, second]), draws=100)
    (finding,) = [f for f in findings if f.kind == "specific heads" and f.tasks[0] == "A"]
    assert not finding.supported and np.isfinite(finding.effect)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_silenced_head_is_specific_for_nothing(tmp_path, rng):
    maps = [measured(6 * rng.normal(size=SHAPE), 1.0, rng, task=name) for name in "AB"]
    for one in maps:
        one.value[2, 1], one.stderr[2, 1] = 0.0, 0.0
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps), draws=100)
    named = {head for finding in findings if finding.kind == "specific heads" for head in finding.heads}
    assert (2, 1) not in named
