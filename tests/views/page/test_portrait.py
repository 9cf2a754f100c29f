"""The portrait of a head and the graph of its function, in a real browser."""

import json

import pytest
from playwright.sync_api import expect

from headatlas.atlas.portraits import read_graphs, read_portrait, unpack
from headatlas.views.page import heads as heads_of_page
from headatlas.views.page import write_page
from tests.atlases import rich_atlas
from tests.atlases.portraits import CHANGED, TOKENS, write_portraits
from tests.views.page.test_browser import chosen
from tests.views.serving import served

pytestmark = pytest.mark.browser

HEADS = [(3, 1), (0, 2), (5, 0)]


@pytest.fixture(scope="module")
def portrayed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("portraits") / "atlas"
    atlas = rich_atlas(folder, ["A", "B"], (12, 6), methods=("attribute",), tests=(), tested=())
    write_portraits(atlas, HEADS)
    write_page([atlas])
    return atlas


def word(page, text, number):
    return page.locator(f'[data-text="{text}"] [data-word="{number}"]')


def looks_at(page, text="Prompt"):
    return page.locator(f'[data-text="{text}"] .looks-at').inner_text()


def test_from_the_card_to_the_examples(look, portrayed):
    seen = read_portrait(portrayed.path / "heads" / "L3H1.json").tasks[0]
    with look(portrayed.path / "report.html", "cell=L3H1&heads=L3H1") as page:
        page.locator("#card .portrait-line button").click()
        expect(page.locator("#portrait h2")).to_have_text("L3H1 on examples")
        assert "portrait" in page.url
        assert (
            page.locator("#portrait .sentence").inner_text().startswith("L3H1: without it A loses 2.00 nats of margin")
        )
        effects = page.locator("#portrait .effects .number").all_inner_texts()
        assert effects == ["3", "2", "1", "0.4"]
        assert page.locator(".example").count() == len(seen.strongest)
        assert "without the head 1" in page.locator(".asked").inner_text()
        for text, tokens in (("Prompt", TOKENS), ("Twin", seen.strongest[0].twin)):
            changed = page.locator(f'[data-text="{text}"] .word.changed')
            assert changed.all_inner_texts() == [tokens[CHANGED].strip()]
        assert word(page, "Prompt", 9).inner_text() == "⏎"
        page.locator('[data-value="weakest"]').click()
        assert "without the head 4" in page.locator(".asked").inner_text()
        page.locator(".example").nth(2).click()
        assert "without the head 3.8" in page.locator(".asked").inner_text()
        assert page.locator('[data-step="B"]').inner_text().startswith("B")
        page.locator('#portrait [data-step="B"]').click()
        assert "without it B loses" in page.locator("#portrait .sentence").inner_text()
        assert (
            "·red" in page.locator(".written").inner_text() and "Direct only" in page.locator(".written").inner_text()
        )
        assert "Copying score 0.82" in page.locator("#portrait").inner_text()


def test_attention_follows_the_chosen_word(look, portrayed):
    example = read_portrait(portrayed.path / "heads" / "L3H1.json").tasks[0].strongest[0]
    weights = unpack(example.attention)
    with look(portrayed.path / "report.html", "cell=L3H1") as page:
        page.wait_for_selector("#portrait .flow")
        largest = round(100 * weights[-1, CHANGED])
        assert looks_at(page).startswith(f"by, where the answer is read, looks at John ({largest} %)")
        assert looks_at(page, "Twin").startswith("by, where the answer is read, looks at Mary")
        expect(page.locator('[data-text="Prompt"] .arcs path')).to_have_count(int((weights[-1, :-1] >= 0.03).sum()))
        word(page, "Prompt", 20).click()
        assert looks_at(page).startswith(f"it looks at When ({round(100 * weights[20, 0])} %)")
        assert looks_at(page, "Twin").startswith("by, ")
        word(page, "Prompt", 5).hover()
        assert page.locator("#tip [data-fact] b").inner_text() == f"{round(100 * weights[20, 5])} %"
        word(page, "Prompt", 30).hover()
        assert page.locator("#tip [data-fact] b").inner_text() == "none: it comes later"
        page.locator('[data-text="Prompt"] .flow').focus()
        page.keyboard.press("ArrowLeft")
        assert word(page, "Prompt", 19).get_attribute("aria-selected") == "true"
        page.keyboard.press("End")
        assert looks_at(page).startswith("by, where the answer is read")
        page.locator('[data-value="matrix"]').click()
        expect(page.locator("#portrait canvas.weights")).to_have_count(2)


def test_partners_and_other_heads_can_be_chosen(look, portrayed):
    with look(portrayed.path / "report.html") as page:
        page.wait_for_selector(".portrait-list")
        rows = page.locator(".portrait-list .partners")
        assert rows.first.locator(".chip").all_inner_texts() == ["L3H1", "L0H2", "L5H0"]  # by rank
        rows.nth(1).locator(".chip").first.click()
        expect(page.locator("#portrait .sentence")).to_contain_text("L3H1: without it B loses")
        page.locator(".chip.backup").click()
        assert chosen(page) == {"L3H0"}
        expect(page.locator("#portrait .portrait-list code")).to_have_text("headatlas head atlas L3H0")
        assert page.locator("#card code").inner_text() == "headatlas head atlas L3H0"


def test_the_graph_of_a_function(look, portrayed):
    graph = read_graphs(portrayed.path)[0]
    with look(portrayed.path / "report.html") as page:
        page.wait_for_selector("#graph svg.graph")
        assert page.locator("#graph .node text").all_text_contents() == [
            f"L{node.layer}H{node.head}" for node in graph.nodes
        ]
        assert page.locator("#graph .edge").count() == 3
        page.locator("#all-pairs").click()
        assert page.locator("#graph .edge").count() == 15
        with page.expect_download() as saved:
            page.locator('[data-save-graph="json"]').click()
        kept = json.loads(saved.value.path().read_text())
        assert [node["layer"] for node in kept["nodes"]] == [node.layer for node in graph.nodes]
        with page.expect_download() as saved:
            page.locator('[data-save-graph="svg"]').click()
        picture = saved.value.path().read_text()
        assert picture.startswith("<svg xmlns=") and all(
            f"L{node.layer}H{node.head}<" in picture for node in graph.nodes
        )
        page.locator("#graph .node").first.focus()
        page.keyboard.press("Enter")
        first = graph.nodes[0]
        assert chosen(page) == {f"L{first.layer}H{first.head}"}


def test_what_is_not_in_the_file_is_fetched_from_a_server(look, tmp_path, monkeypatch):
    atlas = rich_atlas(tmp_path / "atlas", ["A", "B"], (12, 6), methods=("attribute",), tests=(), tested=())
    write_portraits(atlas, HEADS)
    monkeypatch.setattr(heads_of_page.describe_heads, "__defaults__", (0,))
    monkeypatch.setattr("headatlas.views.page.data.HEADS_BYTES", 0)
    path = write_page([atlas])
    with look(path, "cell=L3H1") as page:
        expect(page.locator("#portrait .elsewhere code")).to_have_text("headatlas serve atlas")
        assert page.locator("#portrait .sentence").inner_text().startswith("L3H1: without it A loses")
    with served([atlas.path]) as address, look(address, "cell=L3H1", offline=False) as page:
        expect(page.locator("#portrait .example")).to_have_count(3)
        assert page.watched.requests.count(f"{address}atlas/0/heads/L3H1.json") == 1
        assert looks_at(page).startswith("by, where the answer is read, looks at John")
        page.locator('#portrait [data-step="B"]').click()
        expect(page.locator("#portrait .sentence")).to_contain_text("L3H1: without it B loses")
        assert page.watched.requests.count(f"{address}atlas/0/heads/L3H1.json") == 1
        page.watched.problems = [text for text in page.watched.problems if "/events" not in text]


def test_a_head_that_lacks_parts(look, tmp_path):
    """An architecture may allow neither attention nor direct effects."""
    from headatlas.atlas.portraits import write_portrait
    from tests import portraits

    atlas = rich_atlas(tmp_path / "atlas", ["A"], (4, 4), methods=("attribute",), tests=(), tested=())
    bare = portraits.shown(attention=None, twin=None, twin_attention=None, foil=None, promoted=[], suppressed=[])
    seen = portraits.in_task("A", direct=None, specific=None, specific_q=None, looks=None, compared_with=[], backups=[],
        suppliers=[], strongest=[bare], weakest=[])  # fmt: skip
    neutral = portraits.portrait().neutral.model_copy(update={"looks": None})
    write_portrait(
        atlas.path,
        portraits.portrait(1, 2, tasks=[seen], circuit=None, neutral=neutral, unavailable=["No <b>attention</b>."]),
    )
    with look(write_page([atlas]), "cell=L1H2") as page:
        expect(page.locator("#portrait")).to_contain_text("Its attention was not measured here.")
        assert "No <b>attention</b>." in page.locator("#portrait").inner_text()
        assert page.locator("#portrait .effects tr").count() == 3
        page.locator('[data-value="weakest"]').click()
        assert "There are none." in page.locator("#portrait .examples").inner_text()
        assert page.locator("#graph").is_hidden()
