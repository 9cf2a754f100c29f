"""The figures of roles: their colours are a contract, so they are read back from the images."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headatlas.views.colours import ROLES
from headatlas.views.figures import draw
from headatlas.views.figures.roles import role_colours, role_stacks
from tests.atlases import Known, write_atlas

# Head (0, 0) facilitates in both seeds, (0, 1) in one; (0, 2) interferes in both; (1, 0) does one in each seed.
FACILITATION = np.array([[[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [0, 0, 0]]], dtype=float)
INTERFERENCE = np.array([[[0, 0, 1], [0, 0, 0]], [[0, 0, 1], [1, 0, 0.5]]], dtype=float)
TASK = {"facilitation": FACILITATION, "interference": INTERFERENCE, "irrelevance": 1 - FACILITATION}
BLACK, GREEN, RED, YELLOW = (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)


@pytest.fixture
def atlas(tmp_path):
    maps = [
        Known(values, method="gate", measure=role, seed=seed, task=task)
        for task in ("Math", "Syntax")
        for role, stack in TASK.items()
        for seed, values in reversed(list(enumerate(stack)))
    ]
    return write_atlas(tmp_path / "atlas", maps)


def panels(figure):
    return [axes for axes in figure.axes if axes.get_xlabel() == "Head"]


def pixel(figure, axes, layer, head):
    """The colour that is really on the page at the middle of a head's cell."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page = np.asarray(canvas.buffer_rgba())
    x, y = axes.transData.transform((head, layer))
    return tuple(page[page.shape[0] - round(y), round(x), :3])


def test_colours_say_the_role_and_brightness_its_strength():
    colours = role_colours(np.array([[0, 1, 0, 1, 0.5, np.nan]]), np.array([[0, 0, 1, 1, 0, 0]]))
    np.testing.assert_allclose(colours[0, :5], [BLACK, GREEN, RED, YELLOW, (0, 0.5, 0)])
    assert len(set(colours[0, 5])) == 1 and 0 < colours[0, 5, 0] < 1  # grey: not measured


def test_always_is_what_all_seeds_say_and_any_what_some_say(atlas):
    figure = draw(atlas, "roles")
    drawn = panels(figure)
    assert [axes.get_title() for axes in drawn] == ["Math (Always)", "Math (Any)", "Syntax (Always)", "Syntax (Any)"]
    always, any_ = (axes.get_images()[0] for axes in drawn[:2])
    np.testing.assert_array_equal(always.get_array(), [[GREEN, BLACK, RED], [BLACK, BLACK, BLACK]])
    np.testing.assert_array_equal(any_.get_array(), [[GREEN, GREEN, RED], [YELLOW, BLACK, (0.5, 0, 0)]])
    for axes in drawn:
        assert axes.get_ylim() == (1.5, -0.5)  # layer 0 on top
        assert axes.get_ylabel() == "Layer"
    assert pixel(figure, drawn[1], 0, 1) == (0, 255, 0)
    assert pixel(figure, drawn[1], 1, 0) == (255, 255, 0)
    assert pixel(figure, drawn[0], 1, 0) == (0, 0, 0)
    assert pixel(figure, drawn[1], 0, 2) == (255, 0, 0)


def test_the_key_explains_every_colour(atlas):
    (key,) = [axes for axes in draw(atlas, "roles").axes if axes.get_xlabel() == "Facilitation"]
    assert key.get_ylabel() == "Interference"
    words = {text.get_text(): text.get_position() for text in key.texts}
    square = key.get_images()[0].get_array()
    for word, corner, colour in (
        ("neither", (0, 0), BLACK),
        ("facilitating", (0, -1), GREEN),
        ("interfering", (-1, 0), RED),
        ("both", (-1, -1), YELLOW),
    ):
        x, y = words[word]
        assert (y > 0.5, x > 0.5) == (corner[0] == -1, corner[1] == -1)
        np.testing.assert_allclose(square[corner], colour)
    assert any("Always" in word and "Any" in word for word in words)


def test_maps_show_the_mean_over_seeds_on_one_scale(atlas):
    drawn = panels(draw(atlas, "role_maps"))
    assert [axes.get_title() for axes in drawn[:3]] == ["Math\nfacilitation", "Math\nirrelevance", "Math\ninterference"]
    np.testing.assert_allclose(drawn[0].get_images()[0].get_array(), FACILITATION.mean(0))
    assert {axes.get_images()[0].get_clim() for axes in drawn} == {(0, 1)}


def test_distributions_count_every_head_of_every_seed(atlas):
    figure = draw(atlas, "role_distributions")
    heights = np.array([bar.get_height() for bar in figure.axes[0].patches]).reshape(3, 10)
    np.testing.assert_allclose(heights.sum(axis=1), 1)
    np.testing.assert_allclose(heights[0, [0, 9]], [8 / 12, 4 / 12])
    colours = {line.get_label(): line.get_color() for line in figure.legends[0].get_lines()}
    assert colours == {role.capitalize(): ROLES[role] for role in TASK}


def test_stacks_are_in_the_order_of_seeds_whatever_the_order_of_rows(atlas):
    for role, values in TASK.items():
        np.testing.assert_array_equal(role_stacks(atlas, "gate")["Math"][role], values)


@pytest.mark.parametrize("name", ["roles", "role_maps"])
def test_tasks_whose_masks_do_not_hold_are_hatched_and_say_so(tmp_path, name):
    maps = [
        Known(values, method="gate", measure=role, seed=seed, task=task)
        for task in ("Math", "Syntax")
        for role, stack in TASK.items()
        for seed, values in enumerate(stack)
    ]
    doubts = {"gate": {"Syntax": "masks do not hold when binarised"}}
    drawn = panels(draw(write_atlas(tmp_path / "atlas", maps, doubts=doubts), name))
    half = len(drawn) // 2
    assert not any(axes.patches for axes in drawn[:half])
    for axes in drawn[half:]:
        assert [patch.get_hatch() for patch in axes.patches] == ["///"]
        assert "masks do not hold when binarised" in [text.get_text().replace("\n", " ") for text in axes.texts]
