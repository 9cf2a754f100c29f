"""Heads that take over: found in a planted model that has one, by the numbers that editing weights gives."""

import numpy as np
import pytest

from headatlas.errors import UsageError
from headatlas.methods.repair.repair import Repair
from headatlas.planted import PLANTED
from headatlas.planted.models.backup import BACKUP, MAIN
from headatlas.planted.truth import margin
from headatlas.stats import q_values
from headatlas.suites.suite import Suite
from tests.run.contexts import run_context

EVERY = {"nominate": 1000, "measured": 1000}


def measured(tmp_path, name, **settings):
    planted = PLANTED[name]
    result = Repair(**settings).measure(run_context(tmp_path, planted.build(), planted.suite(0)))
    return result, {(e.metric, e.layer, e.head): e for e in result.diagnostics}


def test_the_backup_head_is_found_and_no_other(tmp_path):
    result, entries = measured(tmp_path, "backup")
    (head_map,) = result.maps
    q = dict(zip(head_map.heads, q_values(head_map.summary.p_value), strict=True))
    assert [head for head in q if q[head] < 0.05] == [BACKUP]
    assert entries["takes over from", *BACKUP].value == MAIN[0] * 6 + MAIN[1]
    assert entries["together beyond sum", None, None].low > 0
    assert entries["direct beyond total", *MAIN].low > 0, "others make up for the main head"


def test_takeovers_are_those_of_edited_weights(tmp_path):
    """Removed by zero, on all examples of `choose`, against the distractors' margin with a single distractor."""
    planted = PLANTED["backup"]
    suite = planted.suite(0)
    lone = [e.model_copy(update={"distractors": (e.counterfactual.answer,)}) for e in suite.examples]
    suite = Suite("lone", tuple(lone))
    context = run_context(tmp_path, planted.build(), suite)
    result = Repair(baseline="zero", **EVERY).measure(context)
    entries = {(e.metric, e.layer, e.head): e.value for e in result.diagnostics}
    canvas, examples = planted.draw(0), suite.split()["choose"].examples
    intact = margin(canvas, examples)
    main, backup, both = (intact - margin(canvas, examples, heads) for heads in ([MAIN], [BACKUP], [MAIN, BACKUP]))
    (head_map,) = result.maps
    takeover = dict(zip(head_map.heads, head_map.summary.mean, strict=True))[BACKUP]
    assert takeover == pytest.approx(both - main - backup, abs=1e-3)
    assert entries["total effect", *MAIN] == pytest.approx(main, abs=1e-3)
    assert entries["effect of both", *BACKUP] == pytest.approx(both, abs=1e-3)
    # With the backup held idle, the main head is missed as much as if there were no backup at all.
    assert entries["direct effect", *MAIN] == pytest.approx(both - backup, rel=0.05)


@pytest.mark.parametrize("name", ["induction", "harmful", "null"])
def test_nothing_takes_over_where_there_is_no_backup(tmp_path, name):
    """Effects of a chain of heads are far from additive, and norms make any two a little so."""
    result, _ = measured(tmp_path, name)
    for head_map in result.maps:
        assert not (q_values(head_map.summary.p_value) < 0.05).any()
        assert np.isfinite(head_map.summary.low).all()


def test_impossible_settings_are_refused():
    with pytest.raises(UsageError, match="candidates = 9 was asked for; it must be from 1 to 7"):
        Repair(candidates=9)
    with pytest.raises(UsageError, match="Unknown baseline 'twin'"):
        Repair(baseline="twin")
