"""The record of the self-test that reports quote is of these models and methods."""

import pytest

from headatlas.planted import PLANTED
from headatlas.planted.record import packaged
from headatlas.planted.truth import MEASURED, margin
from headatlas.workflows.selftest.run import DRAWS
from headatlas.workflows.selftest.run import testable_methods as methods_to_test


def test_every_method_and_every_model_is_in_the_record():
    """If this fails: python scripts/record_selftest.py"""
    assert set(packaged().methods) == set(methods_to_test())
    assert {model.name for model in packaged().models} == set(PLANTED)
    assert {null.draws for null in packaged().null} == {DRAWS}


@pytest.mark.parametrize("name", list(PLANTED))
def test_the_record_is_of_the_models_as_they_are(name):
    planted = PLANTED[name]
    (recorded,) = (model for model in packaged().models if model.name == name)
    canvas, suite = planted.draw(0), planted.suite(0)
    margins = {task: margin(canvas, suite.of(task)[:MEASURED]) for task in suite.tasks}
    assert margins == pytest.approx(recorded.margins, rel=1e-3)
    assert (recorded.shows, recorded.saturated) == (planted.shows, planted.saturated)
