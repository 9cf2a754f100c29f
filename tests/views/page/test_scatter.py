"""The scatter of heads: which measures it shows first, and that it and the maps select the same heads."""

import pytest
from playwright.sync_api import expect
from scipy.stats import spearmanr

from headatlas.views.page.scatter import describe_axes
from headatlas.wording import head_name
from tests.atlases import rich_atlas
from tests.views.page.test_browser import cell, chosen


@pytest.mark.parametrize(
    ("methods", "axes"),
    [
        (["gate", "attribute", "ablate"], [("attribute", "needed"), ("ablate", "needed")]),
        (["probe", "gate"], [("probe", "information"), ("gate", "facilitation")]),
        (["ablate"], [("ablate", "needed"), ("ablate", "share")]),
    ],
)
def test_the_default_method_against_one_of_its_kind_if_there_is_any(tmp_path, methods, axes):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (4, 4), methods=methods, tested=())
    assert describe_axes(atlas) == axes


def brush(page, left, top, right, bottom):
    """Drag over a part of the plot, given as shares of its width and height."""
    plot = page.locator("#scatter canvas").first
    page.wait_for_selector("#run h2")  # sections that are drawn meanwhile would move it
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + left * box["width"], box["y"] + top * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + right * box["width"], box["y"] + bottom * box["height"], steps=4)
    page.mouse.up()


@pytest.mark.browser
def test_brushing_selects_the_same_heads_in_the_maps(look, report, atlas):
    values = [atlas.grid("Retrieval", method) for method in ("attribute", "probe")]
    with look(report, "task=Retrieval") as page:
        page.wait_for_selector("#axis-x")
        page.locator("#axis-x").select_option('["attribute","needed"]')
        page.locator("#axis-y").select_option('["probe","information"]')
        page.locator("#axis-y-task").select_option("Retrieval")
        rho = spearmanr(*[grid.ravel() for grid in values]).statistic
        text = f"270 heads; Spearman’s rank correlation {rho:.2g}."
        expect(page.locator(".scatter-note")).to_have_text(text)
        brush(page, 0.05, 0.02, 0.99, 0.95)
        assert len(chosen(page)) == 270
        brush(page, 0.5, 0.02, 0.99, 0.95)  # heads whose value on the x axis is large
        names = chosen(page)
        assert 0 < len(names) < 270
        largest = [head_name(layer, head) for layer, head in atlas.ranking("Retrieval", "attribute")][: len(names)]
        assert names == set(largest)
        outline = page.locator('.grid .map[data-task="Retrieval"] .chosen').get_attribute("d")
        assert outline.count("M") == len(names) == page.locator("#scatter .map .chosen").get_attribute("d").count("M")


@pytest.mark.browser
def test_hovering_clicking_and_keys(look, report, atlas):
    first = atlas.table("Retrieval", "attribute").iloc[0]
    name = head_name(int(first.layer), int(first["head"]))
    with look(report, "task=Retrieval&method=attribute") as page:
        page.wait_for_selector("#axis-x")
        page.locator("#axis-x").select_option('["attribute","needed"]')
        plot = page.locator("#scatter canvas").first
        plot.focus()
        page.keyboard.press("ArrowRight")  # nothing is chosen yet: the head with the largest x
        assert page.locator("#tip strong").inner_text() == name
        assert float(page.locator("#tip [data-fact] b").first.inner_text()) == pytest.approx(first.value, rel=6e-3)
        page.keyboard.press("Enter")
        assert chosen(page) == {name}
        cell(page, "Retrieval", 4, 4).click()
        assert chosen(page) == {"L4H4"}
        page.locator("text=⇄ exchange").click()
        assert page.locator("#axis-y").input_value() == '["attribute","needed"]'
