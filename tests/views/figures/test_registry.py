"""Which figures an atlas has data for, what is written, and what is said about those it has none for."""

import re
import subprocess
import sys

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.views.figures import FIGURES, draw, write_figures
from tests.views.figures import made

EVIDENCE = {"mask": "mask", "mask_accuracy": "mask", "keep": "keep", "specificity": "specificity",
            "hierarchy": "hierarchy", "steer": "steer"}  # fmt: skip


def names(paths):
    return {path.name for path in paths}


def test_only_figures_with_data_are_written_as_png_and_svg(tmp_path):
    maps = made.atlas(tmp_path / "maps", ["a", "b"], methods=["attribute"], tested=[])
    assert names(write_figures(maps)) == {
        f"{name}.{kind}" for name in ("importance", "profiles") for kind in ("png", "svg")
    }
    some = made.atlas(tmp_path / "some", ["a", "b"], tests=["mask", "steer"], accuracy=False, draws=3, ks=(2, 4))
    written = write_figures(some)
    assert names(written) == {
        f"{name}.{kind}" for name in ("importance", "profiles", "elbow", "mask", "steer") for kind in ("png", "svg")
    }
    assert set(written) == set((some.path / "figures").iterdir())


def test_evidence_of_other_methods_is_written_beside_the_default(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a"], tests=["keep"], tested=["attribute", "probe"])
    assert atlas.choose_method() == "probe"
    assert names(write_figures(atlas)) == {
        f"{name}.{kind}"
        for name in ("importance", "profiles", "elbow", "keep", "keep-attribute")
        for kind in ("png", "svg")
    }
    assert draw(atlas, "keep").get_supxlabel() == "Heads kept, ranked by probe"
    assert draw(atlas, "keep", "attribute").get_supxlabel() == "Heads kept, ranked by attribute"


def test_without_a_method_the_one_that_was_tested_is_drawn(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a"], tests=["keep"], tested=["attribute"])
    assert atlas.choose_method() == "probe"
    assert draw(atlas, "keep").get_supxlabel() == "Heads kept, ranked by attribute"


@pytest.mark.parametrize(("figure", "test"), EVIDENCE.items())
def test_missing_evidence_names_the_command_that_makes_it(tmp_path, figure, test):
    atlas = made.atlas(tmp_path / "my atlas", ["a", "b"], tested=[])
    assert not FIGURES[figure].available(atlas)
    command = f"headatlas verify '{atlas.path}' --test {test}"
    with pytest.raises(HeadAtlasError, match=re.escape(command) + "$"):
        draw(atlas, figure)
    with pytest.raises(HeadAtlasError, match=re.escape(f"{command} --method attribute") + "$"):
        draw(atlas, figure, "attribute")


def test_a_test_that_gave_nothing_to_draw_is_not_asked_for_again(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a"], tests=["mask"], accuracy=False, draws=2)
    with pytest.raises(HeadAtlasError, match="The test 'mask' was run .* but gave no accuracy to draw"):
        draw(atlas, "mask_accuracy")


def test_missing_curves_name_the_method_that_makes_them(tmp_path):
    without = made.atlas(tmp_path / "a", ["a", "b"], methods=["attribute"], tested=[])
    with pytest.raises(HeadAtlasError, match=f"headatlas map --method attribute,probe --out {without.path}"):
        draw(without, "elbow")
    beside = made.atlas(tmp_path / "b", ["a", "b"], tested=[])
    with pytest.raises(HeadAtlasError, match="no sorted curves by attribute, only by probe"):
        draw(beside, "elbow", "attribute")


def test_unknown_figures_and_methods_are_refused_with_the_list(tmp_path):
    atlas = made.atlas(tmp_path / "atlas", ["a"], tests=["keep"])
    with pytest.raises(HeadAtlasError, match=r"Unknown figure 'specifity'. Did you mean 'specificity'\?"):
        draw(atlas, "specifity")
    with pytest.raises(HeadAtlasError, match=r"Unknown method in this atlas 'ablate'.* Known: attribute, probe"):
        draw(atlas, "keep", "ablate")


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "headatlas", *map(str, arguments)], capture_output=True, text=True)


def test_the_command_line_lists_and_draws_them(tmp_path):
    shown = run("plot", "--help").stdout
    assert [line.split()[0] for line in shown.splitlines() if re.match(r"    \w+ {2,}\w", line)] == list(FIGURES)
    atlas = made.atlas(tmp_path / "atlas", ["a", "b"], tests=["mask"], draws=3, ks=(2,), tested=["attribute"])
    done = run("plot", atlas.path, "--figure", "mask", "--method", "attribute")
    assert done.stdout.splitlines() == [str(atlas.path / "figures" / f"mask-attribute.{k}") for k in ("png", "svg")]
    assert (atlas.path / "figures" / "mask-attribute.png").read_bytes().startswith(b"\x89PNG")
    failed = run("plot", atlas.path, "--figure", "keep")
    assert failed.returncode == 1
    assert failed.stderr == (
        f"Error: The atlas {atlas.path} has no outcome of the test 'keep'. "
        f"Make it with: headatlas verify {atlas.path} --test keep\n"
    )
