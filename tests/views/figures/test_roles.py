"""The figures of roles: their colours are a contract, so they are read back from the images."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headatlas.errors import HeadAtlasError
from headatlas.views.figures.gates import draw_gate_curves, draw_order, gate_curves
from headatlas.views.figures.roles import (
    draw_role_distributions,
    draw_role_maps,
    draw_roles,
    role_colours,
    role_distributions,
    role_maps,
    roles,
    stacks,
)


@dataclasses.dataclass
class Tables:
    """Just what these figures ask of an atlas."""

    scores: pd.DataFrame
    diagnostics: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)
    shape: tuple = (2, 3)
    path: str = "atlas"


def stack(*seeds):
    return np.array(seeds, dtype=float)


# Head (0, 0) facilitates in both seeds, (0, 1) in one; (0, 2) interferes in both; (1, 0) does one in each seed.
FACILITATION = stack([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [0, 0, 0]])
INTERFERENCE = stack([[0, 0, 1], [0, 0, 0]], [[0, 0, 1], [1, 0, 0.5]])
TASK = {"facilitation": FACILITATION, "interference": INTERFERENCE, "irrelevance": 1 - FACILITATION}
BLACK, GREEN, RED, YELLOW = (0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)


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


def test_always_is_what_all_seeds_say_and_any_what_some_say():
    figure = draw_roles({"Math": TASK, "Syntax": TASK})
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


def test_the_key_explains_every_colour():
    figure = draw_roles({"Math": TASK})
    (key,) = [axes for axes in figure.axes if axes.get_xlabel() == "Facilitation"]
    assert key.get_ylabel() == "Interference"
    words = {text.get_text(): text.get_position() for text in key.texts}
    square = key.get_images()[0].get_array()
    for word, place, colour in (
        ("neither", (0, 0), BLACK),
        ("facilitating", (0, -1), GREEN),
        ("interfering", (-1, 0), RED),
        ("both", (-1, -1), YELLOW),
    ):
        x, y = words[word]
        assert (y > 0.5, x > 0.5) == (place[0] == -1, place[1] == -1)
        np.testing.assert_allclose(square[place], colour)
    assert any("Always" in word and "Any" in word for word in words)


def test_maps_show_the_mean_over_seeds_on_one_scale():
    figure = draw_role_maps({"Math": TASK})
    drawn = panels(figure)
    assert [axes.get_title() for axes in drawn] == ["Math\nfacilitation", "Math\nirrelevance", "Math\ninterference"]
    np.testing.assert_allclose(drawn[0].get_images()[0].get_array(), FACILITATION.mean(0))
    assert {axes.get_images()[0].get_clim() for axes in drawn} == {(0, 1)}


def test_distributions_count_every_head_of_every_seed():
    axes = draw_role_distributions({"Math": TASK}).axes[0]
    heights = np.array([bar.get_height() for bar in axes.patches]).reshape(3, 10)
    np.testing.assert_allclose(heights.sum(axis=1), 1)
    np.testing.assert_allclose(heights[0, [0, 9]], [8 / 12, 4 / 12])


def test_stacks_are_read_from_scores_whatever_the_order_of_rows():
    rows = [
        {"method": "gate", "measure": role, "task": "Math", "seed": seed, "layer": layer, "head": head, "value": value}
        for role, values in TASK.items()
        for (seed, layer, head), value in np.ndenumerate(values)
    ]
    shuffled = pd.DataFrame(rows).sample(frac=1, random_state=0)
    atlas = Tables(shuffled)
    for role, values in TASK.items():
        np.testing.assert_array_equal(stacks(atlas)["Math"][role], values)
    for figure in (roles(atlas), role_maps(atlas)):
        assert panels(figure)
    assert role_distributions(atlas).axes
    with pytest.raises(HeadAtlasError, match="The atlas atlas has no gates. Map it with: headatlas map --method gate"):
        roles(Tables(shuffled.assign(method="ablate")))


def test_curves_show_each_seed_and_stage():
    rows = [
        {"method": "gate", "metric": f"{stage}_{curve}", "task": "M", "seed": seed, "place": step, "value": seed + step}
        for stage in ("base", "plus", "minus")
        for curve in ("objective", "choose_objective", "open")
        for seed in (0, 1)
        for step in range(4)
    ]  # fmt: skip
    figure = gate_curves(Tables(pd.DataFrame(), pd.DataFrame(rows)))
    assert len(figure.axes) == 4
    for axes in figure.axes[:3]:
        assert len(axes.lines) == 4  # two seeds, fit and choose
    np.testing.assert_array_equal(figure.axes[0].lines[2].get_ydata(), [1, 2, 3, 4])
    assert len(figure.axes[3].lines) == 6
    with pytest.raises(HeadAtlasError, match="no courses of gate fits"):
        draw_gate_curves(pd.DataFrame(rows).query("metric == 'base_open'"))


def test_order_shows_changes_with_their_intervals():
    slopes = [("facilitation", None, 1), ("irrelevance", None, 0), ("interference", None, -1), ("random", 0, 0.5)]
    rows = [
        {"test": "order", "task": "Math", "control": control, "draw": draw, "k": k, "value": -2.0 - k * slope,
         "baseline": -2.0, "low": -2.5 - k * slope, "high": -1.5 - k * slope}
        for control, draw, slope in slopes
        for k in (0, 1, 12)
    ]  # fmt: skip
    axes = draw_order(pd.DataFrame(rows)).axes[0]
    curves = {line.get_color(): line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 3}
    np.testing.assert_allclose(curves["#1b8a3e"], [0, -1, -12])
    np.testing.assert_allclose(curves["#c8281e"], [0, 1, 12])
    assert len(curves) == 4 and len(axes.collections) == 3
    with pytest.raises(HeadAtlasError, match="no ablation in the order of roles"):
        draw_order(pd.DataFrame(rows).assign(test="mask"))
