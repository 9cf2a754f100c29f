"""Which figures an atlas has data for, what is written, and what is said about those it has none for."""

import re
import subprocess
import sys

import pytest
from matplotlib.figure import Figure

from headatlas.atlas.declarations import TestInfo
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
from headatlas.views.figures import FIGURES, draw, figure_list, register_figure, write_figures
from tests.atlases import rich_atlas

OF_EVIDENCE = {name: info.made_by for name, info in FIGURES.items() if info.source == "test"}
MINE = {"title": "Mine", "summary": "does something", "question": "Does it?"}


def files(*names):
    """The files of these figures, and of the one that every atlas has."""
    return {f"{name}.{kind}" for name in ("competence", *names) for kind in ("png", "svg")}


def written_names(atlas):
    return {path.name for path in write_figures(atlas)}


@pytest.fixture
def registered():
    """Register a figure for one test."""
    names = []

    def register(name, *parameters, **more):
        register_figure(name, *parameters, **more)
        names.append(name)

    yield register
    for name in names:
        del FIGURES[name]


def test_every_figure_that_is_declared_is_registered_and_says_who_makes_it():
    for name, method in METHODS.items():
        for figure in method.info.figures:
            assert (FIGURES[figure].source, FIGURES[figure].made_by) == ("method", name)
    for name, test in TESTS.items():
        for figure in test.info.figures:
            assert (FIGURES[figure].source, FIGURES[figure].made_by) == ("test", name)
    declared = [figure for _, part in [*METHODS.items(), *TESTS.items()] for figure in part.info.figures]
    assert sorted(declared) == sorted(name for name, info in FIGURES.items() if info.source in ("method", "test"))


def test_only_figures_with_data_are_written_as_png_and_svg(tmp_path):
    maps = rich_atlas(tmp_path / "maps", ["a", "b"], (6, 4), methods=["attribute"], tested=[])
    assert written_names(maps) == files("importance", "profiles")
    some = rich_atlas(
        tmp_path / "some", ["a", "b"], (6, 4), methods=["attribute", "probe"], tests=["mask", "steer"],
        tested=["probe"], accuracy=False, draws=3, ks=(2, 4),
    )  # fmt: skip
    wanted = files("importance", "importance_probe", "profiles", "elbow", "mask", "steer")
    assert written_names(some) == wanted == {path.name for path in (some.path / "figures").iterdir()}
    gates = rich_atlas(tmp_path / "gates", ["a", "b"], (6, 4), methods=["gate"], tests=["order"])
    of_gates = METHODS["gate"].info.figures
    assert written_names(gates) == files("importance", "profiles", *of_gates, "order")


def test_where_only_evidence_is_new_other_figures_are_drawn_if_they_are_missing(tmp_path):
    atlas = rich_atlas(
        tmp_path / "atlas", ["a", "b"], (6, 4), methods=["attribute"], tests=["mask"], tested=["attribute"]
    )
    write_figures(atlas)
    assert {path.name for path in write_figures(atlas, sources=("test",))} == files("mask", "mask_accuracy") - files()
    (atlas.path / "figures" / "profiles.svg").unlink()
    again = {path.name for path in write_figures(atlas, sources=("test",))}
    assert again == files("mask", "mask_accuracy", "profiles") - files()


def test_evidence_of_other_methods_is_written_beside_the_default(tmp_path):
    atlas = rich_atlas(
        tmp_path / "atlas", ["a", "b"], (6, 4), methods=["attribute", "probe"], tests=["keep"],
        tested=["attribute", "probe"],
    )  # fmt: skip
    assert atlas.choose_method() == "probe"
    assert written_names(atlas) == files(
        "importance", "importance_probe", "profiles", "elbow", "keep", "keep-attribute"
    )
    assert "ranked by probe" in draw(atlas, "keep").get_supxlabel()
    assert "ranked by attribute" in draw(atlas, "keep", "attribute").get_supxlabel()


def test_without_a_method_the_one_that_was_tested_is_drawn(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), tests=["keep"], tested=["attribute"])
    assert atlas.choose_method() == "probe"
    assert "ranked by attribute" in draw(atlas, "keep").get_supxlabel()


@pytest.mark.parametrize(("figure", "test"), OF_EVIDENCE.items())
def test_missing_evidence_names_the_command_that_makes_it(tmp_path, figure, test):
    atlas = rich_atlas(tmp_path / "my atlas", ["a", "b"], (6, 4), tested=[])
    assert FIGURES[figure].methods(atlas) == []
    command = f"headatlas verify '{atlas.path}' --test {test}"
    with pytest.raises(HeadAtlasError, match=re.escape(command) + "$"):
        draw(atlas, figure)
    with pytest.raises(HeadAtlasError, match=re.escape(f"{command} --method attribute") + "$"):
        draw(atlas, figure, "attribute")


def test_a_test_that_gave_nothing_to_draw_is_not_asked_for_again(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), tests=["mask"], accuracy=False, draws=2)
    with pytest.raises(HeadAtlasError, match="The test 'mask' was run .* but gave no accuracy for the figure"):
        draw(atlas, "mask_accuracy")


def test_what_a_method_makes_names_the_method(tmp_path):
    without = rich_atlas(tmp_path / "a", ["a", "b"], (6, 4), methods=["attribute"], tested=[])
    with pytest.raises(HeadAtlasError, match=f"headatlas map --method attribute,probe --out {without.path}"):
        draw(without, "elbow")
    with pytest.raises(HeadAtlasError, match="headatlas map --method attribute,gate"):
        draw(without, "roles")
    beside = rich_atlas(tmp_path / "b", ["a", "b"], (6, 4), tested=[])
    with pytest.raises(
        HeadAtlasError, match="'elbow' is not made from the maps by attribute, only from those by probe"
    ):
        draw(beside, "elbow", "attribute")


def test_unknown_figures_methods_and_formats_are_refused(small, tmp_path):
    with pytest.raises(HeadAtlasError, match=r"Unknown figure 'specifity'. Did you mean 'specificity'\?"):
        draw(small, "specifity")
    with pytest.raises(HeadAtlasError, match=r"Unknown method in this atlas 'ablat'.* Known: probe, attribute, ablate"):
        draw(small, "keep", "ablat")
    with pytest.raises(HeadAtlasError, match=r"figures are written as .png, .svg, .pdf"):
        draw(small, "importance", path=tmp_path / "figure.bmp")


@pytest.mark.parametrize(("kind", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_every_format_repeats_to_the_byte(small, tmp_path, kind, magic):
    for name in "ab":
        draw(small, "importance", path=tmp_path / f"{name}.{kind}")
    first, second = ((tmp_path / f"{name}.{kind}").read_bytes() for name in "ab")
    assert first.startswith(magic) and first == second


@pytest.mark.parametrize(
    ("shape", "more", "title"),
    [
        ("curve", {}, "a"),
        ("recovery", {"headline": "fraction"}, "a"),
        ("matrix", {}, "Less other tasks' heads\nlog-probability (nats)"),
        ("change", {"headline": "accuracy", "chosen": ("steer", "scale"), "reference": None}, "Accuracy\non the task"),
    ],
)
def test_a_test_without_a_figure_is_drawn_by_its_shape(tmp_path, shape, more, title):
    info = TestInfo(name="mine", shape=shape, **MINE, **more)
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), methods=["attribute"], tests=[info])
    assert written_names(atlas) == files("importance", "profiles", "mine")
    assert title in [axes.get_title() for axes in draw(atlas, "mine").axes]


def test_a_test_without_its_headline_is_not_drawn(tmp_path):
    info = TestInfo(name="mine", shape="curve", headline="accuracy", **MINE)
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), methods=["attribute"], tests=[info], accuracy=False)
    assert written_names(atlas) == files("importance", "profiles")
    with pytest.raises(HeadAtlasError, match="The test 'mine' was run .* but gave no accuracy"):
        draw(atlas, "mine")


def test_a_figure_of_ones_own_is_drawn_where_it_is_declared(tmp_path, registered):
    registered("mine", lambda outcome: Figure(label=f"{outcome.test.name} {outcome.method.name}"), "shows it", "test")
    info = TestInfo(name="any", shape="curve", figures=("mine",), **MINE)
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), methods=["attribute"], tests=[info, "keep"])
    assert draw(atlas, "mine").get_label() == "any attribute"
    assert written_names(atlas) == files("importance", "profiles", "mine", "keep")
    assert figure_list()[-1] == ("mine", "shows it")
    with pytest.raises(UsageError, match="There already is a figure called 'keep'"):
        register_figure("keep", "a:b", "again", "test")


def test_the_list_of_figures_is_read_without_matplotlib():
    code = (
        "import sys; from headatlas.views.figures.registry import figure_list; "
        "print(*[name for name, _ in figure_list()], 'matplotlib' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert printed == [*FIGURES, "False"]
    assert all(0 < len(summary) < 70 for _, summary in figure_list())
