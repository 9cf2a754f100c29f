"""In what the numbers of a map are: read from the run, not from the settings."""

import numpy as np
import pytest

from headatlas.atlas.run_record import Quantity
from headatlas.views.figures import draw
from headatlas.views.quantities import measure_of, quantity_words, task_notes
from tests.atlases import Known, write_atlas

TWIN, MEAN = Quantity(metric="margin", baseline="twin"), Quantity(metric="logprob", baseline="mean")


@pytest.fixture
def atlas_with(tmp_path):
    def write(**used):
        maps = [
            Known(np.ones((4, 3)), method="ablate", measure=measure, task=task)
            for task in ("A", "B")
            for measure in ("needed", "share")
        ]
        return write_atlas(tmp_path / "atlas", maps, quantities={"ablate": used} if used else None)

    return write


def test_one_metric_and_baseline_for_all_tasks(atlas_with):
    atlas = atlas_with(A=TWIN, B=TWIN)
    assert measure_of(atlas, "ablate", "needed").label == "needed (nats of margin, against the twin)"
    assert measure_of(atlas, "ablate", "share").label == "share (of positive effects; margin, against the twin)"
    assert task_notes(atlas, "ablate") == {}
    (bar,) = [axes for axes in draw(atlas, "importance").axes if axes.get_xlabel() != "Head"]
    assert bar.get_ylabel() == "Size of needed (nats of margin, against the twin) by ablate"


def test_tasks_that_differ_say_so_one_by_one(atlas_with):
    atlas = atlas_with(A=TWIN, B=MEAN)
    assert measure_of(atlas, "ablate", "needed").label == "needed (nats; metric and baseline differ between tasks)"
    assert measure_of(atlas, "ablate", "needed", "B").label == (
        "needed (nats of log-probability, against the mean of the head)"
    )
    notes = {"A": "margin, against the twin", "B": "log-probability, against the mean of the head"}
    assert task_notes(atlas, "ablate") == notes
    panels = [axes for axes in draw(atlas, "importance").axes if axes.get_xlabel() == "Head"]
    assert {axes.get_title(): [text.get_text() for text in axes.texts] for axes in panels} == {
        task: [note] for task, note in notes.items()
    }


def test_without_a_record_the_declaration_speaks(atlas_with):
    atlas = atlas_with()
    assert measure_of(atlas, "ablate", "needed") == atlas.info("ablate").measure("needed")
    assert quantity_words(Quantity(metric="surprise", baseline="noise")) == "surprise, against noise"
