"""What holds for all figures: the same bytes again, names as they are, any number of tasks, no overlaps, no nan."""

import numpy as np
import pytest
from matplotlib.text import Text

from headatlas.views.figures import FIGURES, draw
from tests.atlases import rewrite_evidence, rich_atlas
from tests.atlases.portraits import write_portraits
from tests.views.figures.reading import intervals

OF_ATLASES = [name for name, info in FIGURES.items() if info.source != "comparison"]
OF_EVIDENCE = [name for name, info in FIGURES.items() if info.source == "test"]


@pytest.mark.parametrize("name", OF_ATLASES)
def test_the_same_atlas_gives_the_same_bytes(small, name, tmp_path):
    for i in range(2):
        draw(small, name, path=tmp_path / f"{i}.svg")
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()


@pytest.mark.parametrize("name", OF_ATLASES)
def test_hostile_names_stand_as_they_are(hostile, tmp_path, name):
    draw(hostile, name, path=tmp_path / "figure.svg")
    written = (tmp_path / "figure.svg").read_text()
    if name != "hierarchy":  # its tasks are those of the cognitive suite
        for text in ("$x_{1}^$ costs $5", "snake_case_name_that", "[bold]not markup[/bold]", "Größe — naïve ±∞ 語彙"):
            assert text in written
        assert "nobody would want to read" not in written  # cut, so that it covers nothing
        assert "…" in written


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("name", [name for name in OF_ATLASES if name not in ("hierarchy", "gate_curves")])
def test_one_task_and_many(tmp_path, name, count):
    tasks = [f"Task {i}" for i in range(count)]
    shown = FIGURES[name]
    if shown.measures and count == 1:
        pytest.skip("it compares tasks")
    methods = ["ablate"] if name == "atlas" else ["probe", "gate"]
    tested = ["gate" if name == "order" else "probe"] if shown.source == "test" else []
    atlas = rich_atlas(
        tmp_path / "atlas", tasks, (8, 6), methods=methods, tested=tested,
        tests=[shown.made_by] if shown.source == "test" else [], ks=(4,), draws=5, neutral=count > 1, seeds=2,
    )  # fmt: skip
    if shown.source == "graphs":
        write_portraits(atlas, [])
    figure = draw(atlas, name)
    figure.draw_without_rendering()
    if name == "atlas":
        words = [text.get_text() for text in figure.axes[1].artists[0].findobj(Text)]
        assert [word.split(":")[0] for word in words if ": " in word and word.startswith("Task")] == tasks
    elif name in ("specificity", "steer", "competence"):
        labels = [label.get_text().split("\n")[0] for label in figure.axes[0].get_yticklabels()]
        assert labels == tasks
    else:
        titles = [axes.get_title().split("\n")[0].removesuffix(" (Always)") for axes in figure.axes]
        assert [title for title in dict.fromkeys(titles) if title in tasks] == tasks
    width, height = figure.get_size_inches()
    assert 2 < width < 20 and 1 < height < 80


@pytest.mark.parametrize("name", OF_ATLASES)
def test_no_panel_covers_another(full, name):
    figure = draw(full, name)
    figure.draw_without_rendering()
    boxes = [axes.get_window_extent() for axes in figure.axes]
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


@pytest.mark.parametrize("name", OF_EVIDENCE)
def test_numbers_that_are_not_known_leave_gaps(tmp_path, name):
    """Few groups give no interval, and a value may be missing altogether."""
    atlas = rich_atlas(tmp_path / "atlas", tests=[FIGURES[name].made_by], tested=["gate"], draws=5)
    table = atlas.evidence.assign(low=np.nan, high=np.nan)
    table.loc[table.index % 3 == 0, "value"] = np.nan
    figure = draw(rewrite_evidence(atlas, table), name)
    figure.draw_without_rendering()
    assert not any(intervals(axes) for axes in figure.axes)
    assert "nan" not in " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
