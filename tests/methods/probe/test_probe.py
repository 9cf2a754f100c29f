"""The probe as a method: its maps of a model with known heads, generated answers, and what it refuses."""

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.methods.probe.probe import Probe
from headatlas.run.generation import with_generated_answers
from tests import tiny
from tests.run.contexts import run_context


def test_the_probe_tells_the_tasks_of_a_model_and_maps_every_head(tmp_path):
    measured = Probe(shuffles=10).measure(run_context(tmp_path, tiny.planted(), tiny.copying(36)))
    grids = {(entry.measure, entry.task): entry.summary.mean.reshape(3, 4) for entry in measured.maps}
    assert set(grids) == {(measure, task) for measure in ("information", "alone") for task in ("Colours", "Numbers")}
    value = {entry.metric: entry.value for entry in measured.diagnostics if entry.task is None}
    assert value["accuracy"] > 0.8
    better = max(value["text naive Bayes"], value["text tf-idf"])
    assert value["gain over text"] == pytest.approx(value["accuracy"] - better)
    for task, head in tiny.HELPERS.items():
        assert grids["alone", task][head] > np.median(grids["alone", task])


def test_generated_answers_are_probed_where_they_are_predicted(tmp_path):
    """The same as replacing the answers first; the planted model goes on after its word, so the maps differ."""
    plain = run_context(tmp_path, tiny.planted(), tiny.copying())
    importance = [
        Probe(shuffles=10, answers=answers).measure(context).maps[0].summary.mean
        for answers, context in (
            ("reference", plain),
            ("generated", plain),
            ("reference", with_generated_answers(plain)),
        )
    ]
    np.testing.assert_allclose(importance[1], importance[2], atol=1e-9)
    assert not np.allclose(importance[0], importance[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "linea"}, r"Unknown probe 'linea'. Did you mean 'linear'\?"),
        ({"answers": "mine"}, "Unknown kind of answers 'mine'"),
        ({"shuffles": 3}, "3 shuffled refits were asked for; a null needs at least 10"),
        ({"seeds": 0}, "0 seeds were asked for; take at least 1"),
        ({"tokens": "some"}, "Unknown choice of answer tokens 'some'"),
        ({"k": 0}, "The 0 most important answer tokens"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(HeadAtlasError, match=message):
        Probe(**settings)
