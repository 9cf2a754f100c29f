"""What the intact model can do, drawn."""

import numpy as np
import pytest

from headatlas.errors import UsageError
from headatlas.views.colours import BLUE, LINE
from headatlas.views.figures import draw
from tests.atlases import Known, competent, write_atlas
from tests.views.figures.reading import intervals


@pytest.fixture
def atlas(tmp_path):
    judged = [competent("A"), competent("B", able=False)]
    return write_atlas(tmp_path / "a", [Known(np.ones((2, 2)), task="A")], competence=judged)


def test_every_task_has_its_accuracy_its_interval_and_chance(atlas):
    (axes,) = draw(atlas, "competence").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A", "B"]
    points = [(line.get_marker(), *line.get_xdata(), *line.get_ydata(), line.get_color()) for line in axes.lines]
    grey = "#5f5f5f"
    assert points == [("o", 0.8, 0, BLUE), ("|", 0.25, 0, grey), ("o", 0.3, 1, LINE), ("|", 0.25, 1, grey)]
    assert intervals(axes) == {(0, 0.7, 0.9), (1, 0.2, 0.4)}


def test_it_is_of_no_method(atlas):
    with pytest.raises(UsageError, match="'competence' is made by no method; leave `method` out"):
        draw(atlas, "competence", method="attribute")
