"""The importance figure: its form is a contract, so it is read back from the SVG and from the axes."""

import dataclasses
import re

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.views.figures import draw, scale_ticks, scale_top, tick_step
from headatlas.views.figures.importance import draw_importance


@dataclasses.dataclass
class Maps:
    """Just what a figure asks of an atlas."""

    grids: dict
    judged: dict = dataclasses.field(default_factory=dict)

    @property
    def shape(self):
        return next(iter(self.grids.values())).shape

    def tasks_of(self, method):
        return list(self.grids)

    @property
    def verdicts(self):
        return dict.fromkeys(self.grids, "competent") | self.judged

    def choose_method(self, name=None):
        return name or "attribute"

    def grid(self, task, method=None):
        return self.grids[task]


def maps(layers: int, heads: int, count: int, scale: float = 0.001) -> Maps:
    rng = np.random.default_rng(0)
    return Maps({f"Task {i}": scale * rng.standard_t(2, size=(layers, heads)) for i in range(count)})


def panels(figure):
    return [axes for axes in figure.axes if axes.get_xlabel() == "Head"]


@pytest.mark.parametrize(("layers", "heads"), [(28, 24), (30, 9), (32, 32), (80, 64), (2, 1)])
@pytest.mark.parametrize("count", [1, 3, 8, 13])
def test_any_shape_and_any_number_of_tasks(layers, heads, count):
    shown = maps(layers, heads, count)
    figure = draw_importance(shown)
    drawn = panels(figure)
    assert [axes.get_title() for axes in drawn] == list(shown.grids)
    for axes, grid in zip(drawn, shown.grids.values(), strict=True):
        image = axes.get_images()[0]
        np.testing.assert_array_equal(image.get_array(), np.abs(grid))
        assert image.origin == "upper"  # layer 0 on top
        assert axes.get_ylim() == (layers - 0.5, -0.5)
        assert axes.get_ylabel() == "Layer"
        assert image.get_clim() == drawn[0].get_images()[0].get_clim()


def test_eight_tasks_stand_two_by_four_with_one_colour_bar():
    figure = draw_importance(maps(28, 24, 8))
    drawn = panels(figure)
    assert len(figure.axes) == 9
    rows = [axes.get_subplotspec().rowspan.start for axes in drawn]
    assert rows == [0] * 4 + [1] * 4
    assert [t.get_text() for t in drawn[0].get_xticklabels()] == ["0", "6", "12", "18"]
    assert [t.get_text() for t in drawn[0].get_yticklabels()] == ["0", "6", "12", "18", "24"]
    assert drawn[0].get_images()[0].get_cmap().name == "viridis"
    (bar,) = [axes for axes in figure.axes if axes not in drawn]
    assert bar.get_title(loc="left") == "Heads Importance"
    labels = [label.get_text() for label in bar.get_yticklabels()]
    assert labels[0] == "0.0000"
    assert re.fullmatch(r"0\.0\d{3}\+", labels[-1])
    assert all(re.fullmatch(r"\d+\.\d{4}", label) for label in labels[:-1])


def test_no_plus_without_values_above_the_scale():
    flat = Maps({"a": np.full((6, 6), 0.005)})
    (bar,) = [axes for axes in draw_importance(flat).axes if axes.get_xlabel() != "Head"]
    assert bar.get_yticklabels()[-1].get_text() == "0.0050"


@pytest.mark.parametrize(
    ("values", "top"),
    [([0.0042], 0.005), ([0.3], 0.3), ([12.0], 15.0), ([0.0], 1.0), ([1e-6], 0.0005), ([np.nan, 2], 2)],
)
def test_the_scale_ends_at_a_round_number(values, top):
    assert scale_top(np.array(values)) == (pytest.approx(top), False)


def test_outliers_are_clipped_and_said_so():
    values = np.concatenate([np.linspace(0, 1, 1000), [50.0]])
    assert scale_top(values) == (1.0, True)


def test_ticks_begin_at_zero_end_at_the_top_and_are_few():
    for top in (0.0005, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.006, 0.008, 0.1, 20):
        ticks = scale_ticks(top)
        assert ticks[0] == 0
        assert ticks[-1] == pytest.approx(top)
        assert 4 <= len(ticks) <= 6
        printed = [f"{tick:.4f}" for tick in ticks]
        assert len(set(printed)) == len(printed)


def test_axis_ticks_fit():
    assert [tick_step(n) for n in (4, 7, 9, 12, 24, 32, 48, 64, 80)] == [1, 2, 3, 6, 6, 6, 6, 12, 12]


def test_heads_that_were_not_measured_are_grey():
    grid = np.full((4, 4), 0.1)
    grid[1, 2] = np.nan
    image = panels(draw_importance(Maps({"a": grid})))[0].get_images()[0]
    colours = image.to_rgba(image.get_array())
    assert len(set(colours[1, 2][:3])) == 1  # grey
    assert len(set(colours[0, 0][:3])) == 3


def test_tasks_the_model_cannot_do_are_hatched_and_say_so():
    shown = Maps({"a": np.full((6, 6), 0.1), "b": np.full((6, 6), 0.1)}, {"b": "not competent", "c": "not competent"})
    a, b, c = panels(draw_importance(shown))
    assert not a.patches
    for axes in (b, c):
        assert [patch.get_hatch() for patch in axes.patches] == ["///"]
        assert [text.get_text() for text in axes.texts] == ["not competent"]
    assert np.isfinite(b.get_images()[0].get_array()).all()  # mapped all the same
    assert np.ma.getmaskarray(c.get_images()[0].get_array()).all()  # not mapped


def test_files_are_written_in_every_format_and_repeat_to_the_byte(tiny_atlas, tmp_path):
    for kind, magic in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        draw(tiny_atlas, "importance", path=tmp_path / f"a.{kind}")
        draw(tiny_atlas, "importance", path=tmp_path / f"b.{kind}")
        assert (tmp_path / f"a.{kind}").read_bytes().startswith(magic)
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert "Heads Importance" in (tmp_path / "a.svg").read_text()


def test_unknown_figures_and_formats_are_refused(tiny_atlas, tmp_path):
    with pytest.raises(HeadAtlasError, match=r"Unknown figure 'importnce'. Did you mean 'importance'\?"):
        tiny_atlas.plot("importnce")
    with pytest.raises(HeadAtlasError, match=r"figures are written as .png, .svg, .pdf"):
        tiny_atlas.plot(path=tmp_path / "figure.bmp")
