"""The page in a real browser: what is on it, and that what it shows is what was measured."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from headatlas.views.scale import scale_top
from headatlas.wording import head_name

pytestmark = pytest.mark.browser

MAPPED = 7  # of the eight tasks; one is beyond the model


def panel(page, task):
    return page.locator(f'.grid .map[data-task="{task}"]')


def cell(page, task, layer, head):
    return panel(page, task).locator(f'.cell[data-layer="{layer}"][data-head="{head}"]')


def hover(page, task, layer, head):
    """What the page says of a head: word -> text."""
    cell(page, task, layer, head).hover(force=True)
    expect(page.locator("#tip strong")).to_have_text(f"L{layer}H{head}")
    rows = page.locator("#tip [data-fact]")
    return {row.get_attribute("data-fact"): row.locator("b").inner_text() for row in rows.all()}


def number(text):
    return float(text.split()[0].replace("−", "-").replace(",", ""))


def ends(text):
    return [number(part) for part in text.split(" to ")]


def chosen(page):
    names = page.locator("#names")
    return set(names.inner_text().split(",")) if names.count() and names.is_visible() else set()


def press(page, label, value):
    page.locator(f'.toolbar [aria-label="{label}"] [data-value="{value}"]').click()


def test_opens_alone_and_complete(look, report, atlas):
    with look(report) as page:
        assert page.watched.requests == [report.resolve().as_uri()]
        expect(page.locator(".grid .cell")).to_have_count(270 * MAPPED)
        assert page.locator("h1").inner_text().startswith("made-up")
        assert page.locator(".grid .map").count() == 8
        assert panel(page, "Logical Reasoning").locator(".none").inner_text() == "not competent"
        for section in ("functions", "overlap", "findings", "evidence", "competence", "agreement", "run"):
            page.wait_for_selector(f"#{section} h2")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_cells_are_named_for_those_who_listen(look, report):
    with look(report, "method=attribute") as page:
        one = cell(page, "Retrieval", 3, 2)
        words = re.compile(r"layer 3 head 2, needed .*, q .*, rank \d+ of 270")
        expect(one).to_have_attribute("aria-label", words)
        assert panel(page, "Retrieval").locator("svg.cells").get_attribute("role") == "grid"


@pytest.mark.parametrize("task", ["Retrieval", "Math Calculation"])
def test_hovering_shows_what_was_measured(look, report, atlas, task):
    table = atlas.table(task, "attribute")
    with look(report, "method=attribute") as page:
        for rank in (1, 2, 8, 101, 270):
            row = table.iloc[rank - 1]
            facts = hover(page, task, int(row.layer), int(row["head"]))
            assert number(facts["needed"]) == pytest.approx(row.value, rel=6e-4, abs=1e-6)
            assert ends(facts["95"]) == pytest.approx([row.low, row.high], rel=6e-3, abs=1e-6)
            assert number(facts["q"].rstrip(",")) == pytest.approx(row.q_value, rel=6e-2)
            assert ("not distinguishable" in facts["q"]) == (row.q_value >= 0.05)
            assert facts["rank"] == f"{rank} of 270"
        assert page.locator("#tip footer").inner_text() == (
            "needed (nats of margin, against the twin); ranked by attribute: largest needed first"
        )


def test_ranks_are_those_of_the_method_whatever_is_shown(look, report, atlas):
    """The rank of a head does not change with the measure or the seed that is looked at."""
    first = atlas.table("Retrieval", "gate").iloc[0]
    with look(report, "method=gate&measure=interference&seed=2") as page:
        facts = hover(page, "Retrieval", int(first.layer), int(first["head"]))
        shown = atlas.grid("Retrieval", "gate", "interference", 2)[int(first.layer), int(first["head"])]
        assert number(facts["interference"]) == pytest.approx(shown, rel=6e-4) and facts["rank"] == "1 of 270"
        assert page.locator("#tip footer").inner_text() == "ranked by gate: largest facilitation first"


def test_clipped_scales_carry_a_plus_and_own_scales_their_top(look, report, atlas):
    sizes = np.concatenate([np.abs(atlas.grid(task, "attribute")).ravel() for task in atlas.tasks])
    top, clipped = scale_top(sizes)
    with look(report, "method=attribute") as page:
        ticks = page.locator("#legend .ramp-ticks span").all_inner_texts()
        assert float(ticks[-1].rstrip("+")) == top and ticks[-1].endswith("+") == clipped and float(ticks[0]) == 0
        strongest = atlas.table("Retrieval", "attribute").iloc[0]
        spot = cell(page, "Retrieval", int(strongest.layer), int(strongest["head"]))
        assert spot.get_attribute("fill") == "#fde725"
        press(page, "Scale", "task")
        task_top = scale_top(np.abs(atlas.grid("Retrieval", "attribute")).ravel())[0]
        assert panel(page, "Retrieval").locator(".note").inner_text().startswith(f"top {task_top:g}")
        press(page, "Colour", "signed")
        press(page, "Scale", "shared")
        ticks = page.locator("#legend .ramp-ticks span").all_inner_texts()
        assert ticks[0].startswith("−") and float(ticks[2]) == 0


def test_fading_what_is_not_distinguishable(look, report, atlas):
    table = atlas.table("Inference", "attribute")
    with look(report, "method=attribute") as page:
        panel(page, "Inference").scroll_into_view_if_needed()
        before = {}
        for name, rows in (("real", table[table.q_value < 0.05]), ("none", table[table.q_value >= 0.05])):
            row = rows.iloc[0]
            before[name] = cell(page, "Inference", int(row.layer), int(row["head"]))
        colours = {name: spot.get_attribute("fill") for name, spot in before.items()}
        page.locator("#fade").click()
        expect(before["none"]).not_to_have_attribute("fill", colours["none"])
        assert before["real"].get_attribute("fill") == colours["real"]
        faded = before["none"].get_attribute("fill")
        assert np.ptp([int(faded[i : i + 2], 16) for i in (1, 3, 5)]) < 20  # a grey


def test_selecting_by_click_drag_and_slider(look, report, atlas):
    with look(report) as page:
        cell(page, "Inference", 4, 4).click()
        assert chosen(page) == {"L4H4"} and page.locator(".card-name span").inner_text() == "L4H4"
        cell(page, "Retrieval", 6, 1).click(modifiers=["Shift"])
        assert chosen(page) == {"L4H4", "L6H1"}
        outlines = page.locator(".grid .map .chosen").evaluate_all("nodes => nodes.map(node => node.getAttribute('d'))")
        assert set(outlines) == {"M4 4h1v1h-1zM1 6h1v1h-1z"} and len(outlines) == MAPPED
        start, end = (cell(page, "Inference", *place).bounding_box() for place in ((10, 2), (12, 4)))
        page.mouse.move(start["x"] + 3, start["y"] + 3)
        page.mouse.down()
        page.mouse.move(end["x"] + 3, end["y"] + 3, steps=5)
        page.mouse.up()
        assert chosen(page) == {f"L{layer}H{head}" for layer in (10, 11, 12) for head in (2, 3, 4)}
        page.locator("#pick-task").select_option("Retrieval")
        page.locator("#pick-k").fill("15")
        assert page.locator("#pick-note").inner_text() == "Ranked by probe: largest information first."
        assert chosen(page) == {head_name(*head) for head in atlas.ranking("Retrieval", "probe")[:15]}
        page.locator("#clear").click()
        assert chosen(page) == set()


def test_the_card_of_a_head(look, report, atlas):
    with look(report, "cell=L15H3&heads=L15H3&method=attribute") as page:
        card = page.locator("#card")
        page.wait_for_selector("#card .ranks")
        assert "kv group 1, shared with H4 and H5" in card.inner_text()
        value = card.locator('tr[data-task="Retrieval"] .number').inner_text()
        assert number(value) == pytest.approx(atlas.grid("Retrieval", "attribute")[15, 3], rel=6e-3)
        table = atlas.table("Retrieval", "attribute")
        rank = table.loc[(table.layer == 15) & (table["head"] == 3), "rank"].item()
        ranks = card.locator(".ranks tr", has_text="Retrieval").locator("td").all_inner_texts()
        assert ranks[1] == str(rank)
        assert "gate: largest facilitation first" in card.inner_text()
        assert "Tests that include it" in card.inner_text()
        looks = atlas.diagnostics.query("method == 'attention' and layer == 15 and head == 3")
        largest = looks.loc[looks.value.idxmax()]
        words = atlas.info("attention").measure(largest.metric).meaning
        assert card.locator(".roles dd").first.inner_text().startswith(f"{words} ({100 * largest.value:.0f} %)")


def test_one_task_large(look, report, atlas):
    with look(report) as page:
        panel(page, "Retrieval").locator("button.name").click()
        assert page.locator("#grid").is_hidden() and page.locator("#focus .cell").count() == 270
        heads = page.locator("#focus tbody .head").all_inner_texts()
        assert heads == [head_name(*head) for head in atlas.ranking("Retrieval", "probe")[:10]]
        page.locator('[data-step="Inference"]').click()
        assert page.locator("#maps-title").inner_text() == "Inference"
        page.locator('[data-step="Logical Reasoning"]').click()
        assert page.locator("#focus .none").inner_text() == "not competent"
        page.keyboard.press("f")
        assert page.locator("#grid").is_visible()


def test_the_keyboard_does_it_all(look, report):
    with look(report) as page:
        page.locator('.map[data-task="Retrieval"] svg.cells').focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowRight"):
            page.keyboard.press(key)
        assert "cell=L2H1" in page.url
        assert page.locator("#tip strong").inner_text() == "L2H1"
        assert page.locator("#live").inner_text().startswith("Retrieval: layer 2 head 1")
        svg = page.locator('.map[data-task="Retrieval"] svg.cells')
        active = page.locator(f"#{svg.get_attribute('aria-activedescendant')}")
        assert (active.get_attribute("data-layer"), active.get_attribute("data-head")) == ("2", "1")
        page.keyboard.press("Enter")
        page.keyboard.press("Shift+ArrowRight")
        assert chosen(page) == {"L2H1", "L2H2"}
        page.keyboard.press("Escape")
        assert chosen(page) == set()
        page.keyboard.press("m")
        assert page.locator('[aria-label="Method"] [aria-pressed="true"]').inner_text() == "Attribution"
        page.keyboard.press("q")
        assert page.locator("#fade").get_attribute("aria-pressed") == "true"
        page.keyboard.press("]")
        page.keyboard.press("f")
        assert page.locator("#maps-title").inner_text() == "Decision-making"  # the next that is mapped
        page.keyboard.press("?")
        assert page.locator("dialog[open] dt").count() >= 15
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0


def test_a_view_can_be_linked_to(look, report):
    with look(report) as page:
        press(page, "Method", "attribute")
        press(page, "Scale", "task")
        page.locator("#fade").click()
        panel(page, "Inference").locator("button.name").click()
        page.locator("#pick-k").fill("4")
        view, names = page.url.split("#")[1], chosen(page)
        assert len(names) == 4
    with look(report, view) as page:
        assert page.locator("#maps-title").inner_text() == "Inference"
        pressed = page.locator('.toolbar [aria-pressed="true"]').all_inner_texts()
        assert pressed == ["Attribution", "size", "per task", "fade q ≥ 0.05"]
        assert chosen(page) == names
        page.evaluate("location.hash = 'method=gate&theme=dark'")
        page.wait_for_selector("[data-theme=dark] .chips")
    with look(report, "method=nonsense&k=-3&heads=L99H99,xx&cell=7&seed=12&task=<b>&view=x&atlas=9") as page:
        assert page.locator("#grid").is_visible() and chosen(page) == set()
