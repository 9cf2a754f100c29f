"""The maps: their form is a contract, so it is read back from the axes."""

import re

import numpy as np
import pytest

from headatlas.views.figures import draw
from tests.atlases import Known, competent, write_atlas


@pytest.fixture
def show(tmp_path):
    """The figure of maps by task; tasks are competent unless `unable` holds them."""

    def figure_of(grids, unable=(), **more):
        tasks = dict.fromkeys([*grids, *unable])
        competence = [competent(task, task not in unable, task in grids) for task in tasks]
        maps = [Known(grid, task=task, **more) for task, grid in grids.items()]
        return draw(write_atlas(tmp_path / "atlas", maps, competence=competence), "importance")

    return figure_of


def maps(layers: int, heads: int, count: int, scale: float = 0.001) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {f"Task {i}": scale * rng.standard_t(2, size=(layers, heads)) for i in range(count)}


def panels(figure):
    return [axes for axes in figure.axes if axes.get_xlabel() == "Head"]


@pytest.mark.parametrize(("layers", "heads"), [(28, 24), (30, 9), (32, 32), (80, 64), (2, 1)])
@pytest.mark.parametrize("count", [1, 3, 8, 13])
def test_any_shape_and_any_number_of_tasks(show, layers, heads, count):
    grids = maps(layers, heads, count)
    drawn = panels(show(grids))
    assert [axes.get_title() for axes in drawn] == list(grids)
    for axes, grid in zip(drawn, grids.values(), strict=True):
        image = axes.get_images()[0]
        np.testing.assert_array_equal(image.get_array(), np.abs(grid))
        assert image.origin == "upper"  # layer 0 on top
        assert axes.get_ylim() == (layers - 0.5, -0.5)
        assert axes.get_ylabel() == "Layer"
        assert image.get_clim() == drawn[0].get_images()[0].get_clim()


def test_eight_tasks_stand_two_by_four_with_one_colour_bar(show):
    figure = show(maps(28, 24, 8))
    drawn = panels(figure)
    assert len(figure.axes) == 9
    rows = [axes.get_subplotspec().rowspan.start for axes in drawn]
    assert rows == [0] * 4 + [1] * 4
    assert [t.get_text() for t in drawn[0].get_xticklabels()] == ["0", "6", "12", "18"]
    assert [t.get_text() for t in drawn[0].get_yticklabels()] == ["0", "6", "12", "18", "24"]
    assert drawn[0].get_images()[0].get_cmap().name == "viridis"
    (bar,) = [axes for axes in figure.axes if axes not in drawn]
    assert bar.get_ylabel() == "Size of needed (nats) by attribute"
    labels = [label.get_text() for label in bar.get_yticklabels()]
    assert labels[0] == "0.000"  # as many decimals as the ticks need, and the same for all
    assert re.fullmatch(r"0\.0\d{2}\+", labels[-1])
    assert all(re.fullmatch(r"\d+\.\d{3}", label) for label in labels[:-1])


def test_no_plus_without_values_above_the_scale(show):
    (bar,) = [axes for axes in show({"a": np.full((6, 6), 0.005)}).axes if axes.get_xlabel() != "Head"]
    assert bar.get_yticklabels()[-1].get_text() == "0.005"


def test_a_measure_from_zero_to_one_has_a_fixed_scale(show):
    figure = show({"a": np.full((6, 6), 0.3)}, method="gate", measure="facilitation")
    (axes,) = panels(figure)
    assert axes.get_images()[0].get_clim() == (0, 1)
    (bar,) = [other for other in figure.axes if other is not axes]
    assert bar.get_ylabel() == "Facilitation by gate"
    assert [label.get_text() for label in bar.get_yticklabels()] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]


def test_heads_that_were_not_measured_are_grey(show):
    grid = np.full((4, 4), 0.1)
    grid[1, 2] = np.nan
    image = panels(show({"a": grid}))[0].get_images()[0]
    colours = image.to_rgba(image.get_array())
    assert len(set(colours[1, 2][:3])) == 1  # grey
    assert len(set(colours[0, 0][:3])) == 3


def test_tasks_the_model_cannot_do_are_hatched_and_say_so(show):
    a, b, c = panels(show({"a": np.full((6, 6), 0.1), "b": np.full((6, 6), 0.1)}, unable=("b", "c")))
    assert not a.patches
    for axes in (b, c):
        assert [patch.get_hatch() for patch in axes.patches] == ["///"]
        assert [text.get_text() for text in axes.texts] == ["not competent"]
    assert np.isfinite(b.get_images()[0].get_array()).all()  # mapped all the same
    assert np.ma.getmaskarray(c.get_images()[0].get_array()).all()  # not mapped
