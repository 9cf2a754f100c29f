"""The page in a real browser: what is on it, and that what it shows is what was measured."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

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
        expect(page.locator(".cell")).to_have_count(270 * MAPPED)
        assert page.locator("h1").inner_text().startswith("synthetic")
        assert page.locator(".grid .map").count() == 8
        assert panel(page, "Logical Reasoning").locator(".none").inner_text() == "not competent"
        for section in ("overlap", "findings", "evidence", "competence", "agreement", "run"):
            page.wait_for_selector(f"#{section} h2")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_cells_are_named_for_those_who_listen(look, report):
    with look(report) as page:
        one = cell(page, "Retrieval", 3, 2)
        words = re.compile(r"layer 3 head 2, importance .*, q .*, rank \d+ of 270")
        expect(one).to_have_attribute("aria-label", words)
        assert panel(page, "Retrieval").locator("svg.cells").get_attribute("role") == "grid"


@pytest.mark.parametrize("task", ["Retrieval", "Math Calculation"])
def test_hovering_shows_what_was_measured(look, report, atlas, task):
    table = atlas.table(task, "attribute")
    with look(report) as page:
        for place in (0, 1, 7, 100, 269):
            row = table.iloc[place]
            facts = hover(page, task, int(row.layer), int(row["head"]))
            assert number(facts["importance"]) == pytest.approx(row.value, rel=6e-4, abs=1e-6)
            assert ends(facts["95"]) == pytest.approx([row.low, row.high], rel=6e-3, abs=1e-6)
            if row.q_value < 0.001:
                assert facts["q"].startswith("< 0.001")
            else:
                assert number(facts["q"]) == pytest.approx(row.q_value, rel=6e-2)
            assert ("not distinguishable" in facts["q"]) == (row.q_value >= 0.05)
            assert facts["rank"] == f"{place + 1} of 270"


def test_methods_measures_and_seeds(look, report, atlas):
    seeds = [atlas.grid("Inference", "probe", seed=seed)[9, 4] for seed in range(3)]
    helps = [atlas.grid("Inference", "gate", "facilitation", seed)[15, 3] for seed in range(3)]
    hurts = [atlas.grid("Inference", "gate", "interference", seed)[15, 3] for seed in range(3)]
    with look(report) as page:
        press(page, "Method", "probe")
        assert number(hover(page, "Inference", 9, 4)["importance"]) == pytest.approx(np.mean(seeds), rel=6e-4)
        press(page, "Seeds", "2")
        assert number(hover(page, "Inference", 9, 4)["importance"]) == pytest.approx(seeds[2], rel=6e-4)
        page.locator('.toolbar select[aria-label="Measure"]').select_option("alone")
        alone = atlas.grid("Inference", "probe", "alone", 2)[9, 4]
        assert number(hover(page, "Inference", 9, 4)["alone"]) == pytest.approx(alone, rel=6e-4)
        press(page, "Method", "gate")
        assert page.locator("#legend").inner_text().split() == ["neither", "facilitating", "interfering", "both"]
        for word, joined in (("always", min), ("any", max), ("mean", np.mean)):
            press(page, "Seeds", word)
            facts = hover(page, "Inference", 15, 3)
            assert number(facts["facilitation"]) == pytest.approx(joined(helps), rel=6e-4)
            assert number(facts["interference"]) == pytest.approx(joined(hurts), rel=6e-4)
        press(page, "Method", "ablate")
        measured = atlas.table("Inference", "ablate")
        assert panel(page, "Inference").locator(".note").inner_text().startswith(f"{len(measured)} measured")


def test_clipped_scales_carry_a_plus_and_own_scales_their_top(look, report, atlas):
    sizes = np.concatenate([np.abs(atlas.grid(task, "attribute")).ravel() for task in atlas.tasks])
    with look(report) as page:
        ticks = page.locator("#legend .ramp-ticks span").all_inner_texts()
        top = float(ticks[-1].rstrip("+"))
        assert float(ticks[0]) == 0 and ticks[-1].endswith("+") == bool(sizes.max() > top)
        assert np.quantile(sizes, 0.99) <= top <= 1.6 * np.quantile(sizes, 0.99)
        strongest = atlas.table("Retrieval", "attribute").iloc[0]
        spot = cell(page, "Retrieval", int(strongest.layer), int(strongest["head"]))
        assert spot.get_attribute("fill") == "#fde725"
        press(page, "Scale", "own")
        assert panel(page, "Retrieval").locator(".note").inner_text().startswith("top 0.0")
        press(page, "Colour", "signed")
        press(page, "Scale", "shared")
        ticks = page.locator("#legend .ramp-ticks span").all_inner_texts()
        assert ticks[0].startswith("−") and float(ticks[2]) == 0


def test_fading_what_is_not_distinguishable(look, report, atlas):
    table = atlas.table("Retrieval", "attribute")
    with look(report) as page:
        before = {}
        for name, rows in (("real", table[table.q_value < 0.05]), ("none", table[table.q_value >= 0.05])):
            row = rows.iloc[0]
            before[name] = cell(page, "Retrieval", int(row.layer), int(row["head"]))
        colours = {name: spot.get_attribute("fill") for name, spot in before.items()}
        page.locator("#fade").click()
        assert before["real"].get_attribute("fill") == colours["real"]
        faded = before["none"].get_attribute("fill")
        assert faded != colours["none"] and np.ptp([int(faded[i : i + 2], 16) for i in (1, 3, 5)]) < 20  # a grey


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
        strongest = atlas.table("Retrieval", "attribute").head(15)
        assert chosen(page) == {f"L{row.layer}H{row['head']}" for _, row in strongest.astype(int).iterrows()}
        page.locator("#clear").click()
        assert chosen(page) == set()


def test_the_card_of_a_head(look, report, atlas):
    with look(report, "cell=L15H3&heads=L15H3") as page:
        card = page.locator("#card")
        page.wait_for_selector("#card .ranks")
        assert "kv group 1, shared with H4 and H5" in card.inner_text()
        value = card.locator('tr[data-task="Retrieval"] .number').inner_text()
        assert number(value) == pytest.approx(atlas.grid("Retrieval", "attribute")[15, 3], rel=6e-3)
        table = atlas.table("Retrieval", "attribute")
        rank = int(table.index[(table.layer == 15) & (table["head"] == 3)][0]) + 1
        ranks = card.locator(".ranks tr", has_text="Retrieval").locator("td").all_inner_texts()
        assert ranks[1] == str(rank)
        assert "Tests that include it" in card.inner_text()
        looks = atlas.diagnostics[(atlas.diagnostics.method == "attention") & (atlas.diagnostics.place == 15 * 9 + 3)]
        largest = looks.loc[looks.value.idxmax()]
        words = {"previous": "the previous token", "after_same": "what followed an earlier copy (induction)"}
        shown = card.locator(".roles dd").first.inner_text()
        assert shown.startswith(f"{words[largest.metric]} {100 * largest.value:.0f} %")


def test_one_task_large(look, report, atlas):
    with look(report) as page:
        panel(page, "Retrieval").locator("button.name").click()
        assert page.locator("#grid").is_hidden() and page.locator("#focus .cell").count() == 270
        heads = page.locator("#focus tbody .head").all_inner_texts()
        strongest = atlas.table("Retrieval", "attribute").head(10)
        assert heads == [f"L{row.layer}H{row['head']}" for _, row in strongest.astype(int).iterrows()]
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
        assert page.locator('[aria-label="Method"] [aria-pressed="true"]').inner_text() == "ablate"
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
        press(page, "Method", "probe")
        press(page, "Seeds", "any")
        press(page, "Scale", "own")
        page.locator("#fade").click()
        panel(page, "Inference").locator("button.name").click()
        page.locator("#pick-k").fill("4")
        view, names = page.url.split("#")[1], chosen(page)
        assert len(names) == 4
    with look(report, view) as page:
        assert page.locator("#maps-title").inner_text() == "Inference"
        pressed = page.locator('.toolbar [aria-pressed="true"]').all_inner_texts()
        assert pressed == ["probe", "Any", "size", "own", "fade q ≥ 0.05"]
        assert chosen(page) == names
        page.evaluate("location.hash = 'method=gate&theme=dark'")
        page.wait_for_selector("[data-theme=dark] .chips")
    with look(report, "method=nonsense&k=-3&heads=L99H99,xx&cell=7&seed=12&task=<b>&view=x&atlas=9") as page:
        assert page.locator("#grid").is_visible() and chosen(page) == set()


def test_light_and_dark(look, report):
    with look(report, color_scheme="dark") as page:
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (dark, light) == ("rgb(14, 18, 23)", "rgb(246, 247, 248)")
        page.keyboard.press("t")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_can_be_read(look, report, theme):
    """Contrast of ink and soft ink on both grounds: 4.5 at least."""
    with look(report, f"theme={theme}") as page:
        colours = page.evaluate(
            """() => { const style = getComputedStyle(document.documentElement);
            const names = ['ink', 'soft', 'ground', 'surface', 'accent', 'good', 'good-ground', 'bad', 'bad-ground',
                'warn', 'warn-ground'];
            return Object.fromEntries(names.map((name) => [name, style.getPropertyValue('--' + name).trim()])) }"""
        )
        pairs = [(a, b) for a in ("ink", "soft", "accent") for b in ("ground", "surface")]
        for ink, ground in [*pairs, ("good", "good-ground"), ("bad", "bad-ground"), ("warn", "warn-ground")]:
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)


def contrast(first, second):
    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(first), light(second)))
    return (high + 0.05) / (low + 0.05)
