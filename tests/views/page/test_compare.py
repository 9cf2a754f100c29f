"""The comparison, the consensus and the record of methods, as data of the page and in a browser."""

import json

import numpy as np
import pytest

from headatlas.patterns.compare import compare
from headatlas.patterns.found_again import found_again
from headatlas.views.found_again import found_again_sentence
from headatlas.views.known_heads import known_heads_line
from headatlas.views.page import write_page
from headatlas.views.page.data import describe_page
from headatlas.wording import interval
from tests.atlases import rich_atlas, write_atlas
from tests.patterns.compare.pairs import SHAPE, examples, known
from tests.patterns.compare.test_depth import peaked


def two(tmp_path):
    rng = np.random.default_rng(0)
    effect = 3 * rng.standard_normal(SHAPE)
    return [write_atlas(tmp_path / name, [known(examples(effect + more, rng), task="<b>A")])
            for name, more in (("one", 0), ("two", 40 * np.eye(*SHAPE)))]  # fmt: skip


def test_a_page_without_a_comparison_has_no_such_data(tmp_path):
    assert describe_page(two(tmp_path))["comparison"] is None


def test_rows_and_points_are_those_of_the_comparison(tmp_path):
    outcome = compare(*two(tmp_path))
    data = describe_page(two(tmp_path), comparison=outcome)["comparison"]
    json.dumps(data, allow_nan=False)
    (task,) = outcome.tasks
    (row,) = data["rows"]
    assert row[0] == "<b>A" and row[3] == interval(task.correlation.low, task.correlation.high, sign=True)
    (points,) = data["tasks"]
    assert sum("differs" in kind for kind in points["kinds"]) == len(task.differing) == len(points["differing"])
    assert sum("shared" in kind for kind in points["kinds"]) == len(task.shared)
    assert data["remarks"] == outcome.remarks


def test_methods_have_their_record_and_maps_their_sentence(tmp_path):
    atlas = rich_atlas(tmp_path / "rich", tasks=("Retrieval", "Inference"), shape=(8, 6), tests=())
    (data,) = describe_page([atlas])["atlases"]
    assert {method["name"]: method["known_heads"] for method in data["methods"]} == {
        name: known_heads_line(name) for name in atlas.methods
    }
    assert {method["name"] for method in data["consensus"]["methods"]} == {"attribute", "ablate", "gate"}
    assert all(method["record"] == known_heads_line(method["name"]) for method in data["consensus"]["methods"])
    assert data["found_again"] == [(f.method, f.task, found_again_sentence(f)) for f in found_again(atlas)]


@pytest.mark.browser
def test_the_section_in_a_browser(tmp_path, look):
    atlases = two(tmp_path)
    outcome = compare(*atlases)
    with look(write_page(atlases, tmp_path / "two.html", comparison=outcome)) as page:
        page.wait_for_selector("#compare .head-point.differs")
        assert page.locator("#compare .charts .head-point.differs").count() == len(outcome.tasks[0].differing)
        assert page.locator("nav a", has_text="Comparison").count() == 1
        assert "<b>A" in page.locator("#compare").inner_text()


@pytest.mark.browser
def test_depths_in_a_browser_and_no_section_without_a_comparison(tmp_path, look):
    rng = np.random.default_rng(0)
    atlases = [write_atlas(tmp_path / n, [peaked(layers, 6, 0.3, rng)], name=n) for n, layers in (("a", 24), ("b", 12))]
    with look(write_page(atlases, tmp_path / "two.html", comparison=compare(*atlases))) as page:
        page.wait_for_selector("#compare path.line")
        assert page.locator("#compare path.line").count() == 2
    with look(write_page(atlases[:1], tmp_path / "one.html")) as page:
        assert page.locator("#compare").is_hidden() and page.locator("nav a", has_text="Comparison").count() == 0
