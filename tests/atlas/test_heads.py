import numpy as np
import pytest

from headatlas.atlas.heads import choose_heads, read_scaled
from headatlas.errors import UsageError
from tests.atlases import Known, write_atlas

GRID = np.array([[0.1, 0.0, 0.5, -0.9], [0.2, 0.3, 0.0, 0.05], [2.0, -0.01, 0.02, 0.4]])


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return write_atlas(tmp_path_factory.mktemp("heads") / "atlas", [Known(GRID)])


def choose(text, atlas=None):
    return choose_heads(text, (3, 4), 2, atlas)


def test_heads_by_name_each_once_in_order():
    assert choose("L2H3, l0h1,L2H3") == ((2, 3), (0, 1))
    assert choose("L1") == ((1, 0), (1, 1), (1, 2), (1, 3))
    assert choose([(0, 1), (0, 1)]) == ((0, 1),)


def test_heads_of_a_map(atlas):
    assert list(choose("top:3:task", atlas)) == atlas.ranking("task")[:3]
    assert set(choose("lowest:2", atlas)) == {(0, 1), (1, 2)}
    assert choose("top:1,L0H0", atlas) == (atlas.ranking()[0], (0, 0))


def test_the_weakest_group_of_each_layer(atlas):
    # Heads 0 and 1 share keys and values, and so do 2 and 3.
    assert choose("weakest:1", atlas) == ((0, 0), (0, 1), (1, 2), (1, 3), (2, 2), (2, 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("L9H1", "There is no head L9H1: the model has 3 layers of 4 heads, L0H0 to L2H3."),
        ("L0H4", "There is no head L0H4"),
        ("head 3", "'head 3' names no heads. Write L17H4"),
        ("", "'' names no heads"),
        ("top:0:task", "names no heads"),
        ("weakest:1:task", "names no heads"),
        ("top:13:task", "asks for 13 heads; the map of Task has 12"),
        ("top:2:tusk", "Unknown task in this atlas 'tusk'. Did you mean 'Task'"),
        ("weakest:2", "leaves no heads: each layer has 2 groups"),
    ],
)
def test_what_is_no_head_is_said(atlas, text, message):
    with pytest.raises(UsageError) as error:
        choose(text, atlas)
    assert message in str(error.value)


def test_maps_need_an_atlas():
    with pytest.raises(UsageError, match="'top:2:task' asks for heads of a map; give the folder of an atlas"):
        choose("top:2:task")


@pytest.mark.parametrize("text", ["L0H1", "L0H1=", "=2", "L0H1=inf", "L0H1=half"])
def test_a_factor_is_a_number(text):
    assert read_scaled("L0H1,L1=-0.5") == ("L0H1,L1", -0.5)
    with pytest.raises(UsageError, match="write HEADS=FACTOR"):
        read_scaled(text)
