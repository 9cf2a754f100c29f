"""What examples allow with a tokenizer, and what a map would do by default."""

from headatlas.run.quantity import plan_quantity
from headatlas.run.readiness import readiness
from headatlas.suites.suite import SPLITS
from tests import tiny
from tests.run.contexts import run_context
from tests.run.test_quantity import nested_suite, twin_suite


def test_counts_and_defaults_are_those_of_a_map(tmp_path):
    for suite in (twin_suite(), twin_suite(missing=12), tiny.suite(), nested_suite(nested=4)):
        context = run_context(tmp_path, suite=suite)
        for entry in readiness(context):
            quantity = plan_quantity(context, entry.task)
            assert (entry.baseline, entry.metric) == (quantity.baseline, quantity.metric)
            assert entry.examples == sum(len(context.examples(entry.task, split)) for split in SPLITS)


def test_usable_twins_are_counted(tmp_path):
    def aligned(suite):
        return {entry.aligned for entry in readiness(run_context(tmp_path, suite=suite))}

    assert aligned(twin_suite()) == {36}
    assert aligned(twin_suite(missing=12)) == {24}
    assert aligned(nested_suite(nested=5)) == {31}
    assert aligned(tiny.suite()) == {0}


def test_the_checks_of_an_audit_say_the_same(tmp_path):
    entry = readiness(run_context(tmp_path, suite=twin_suite(missing=12)))[0]
    twins, options = entry.checks()
    assert (twins.value, twins.limit, twins.verdict) == (24 / 36, 0.9, "warning")
    assert twins.note.startswith(
        f"24 of 36 examples of Colours have a twin that can be aligned with them, {entry.lent} can be lent"
    )
    assert twins.note.endswith(f"baseline of a map is {entry.baseline} and its metric margin.")
    assert (options.value, options.verdict) == (0, "good")
    good, _ = readiness(run_context(tmp_path, suite=twin_suite()))[0].checks()
    assert good.verdict == "good"
