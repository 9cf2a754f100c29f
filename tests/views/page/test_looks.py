"""How the page looks in a real browser: methods, seeds, roles, light and dark."""

import numpy as np
import pytest

from headatlas.atlas.run_record import Quantity
from headatlas.views.colours import ROLES
from headatlas.views.known_heads import known_heads_line
from headatlas.views.page import write_page
from tests.atlases import Known, write_atlas
from tests.views.page.test_browser import ends, hover, number, panel, press

pytestmark = pytest.mark.browser


def test_methods_measures_and_seeds(look, report, atlas):
    seeds = [atlas.grid("Inference", "probe", seed=seed)[9, 4] for seed in range(3)]
    facilitation, interference = (
        [atlas.grid("Inference", "gate", role, seed)[15, 3] for seed in range(3)]
        for role in ("facilitation", "interference")
    )
    with look(report) as page:
        assert page.locator('[aria-label="Method"] [aria-pressed="true"]').inner_text() == "Probe"  # the default
        facts = hover(page, "Inference", 9, 4)
        assert number(facts["information"]) == pytest.approx(np.mean(seeds), rel=6e-4)
        assert ends(facts["range"]) == pytest.approx([min(seeds), max(seeds)], rel=6e-3)
        assert "q" not in facts  # of several seeds no error is known
        press(page, "Seeds", "2")
        facts = hover(page, "Inference", 9, 4)
        assert number(facts["information"]) == pytest.approx(seeds[2], rel=6e-4) and "q" in facts
        page.locator('.toolbar select[aria-label="Measure"]').select_option("alone")
        alone = atlas.grid("Inference", "probe", "alone")[9, 4]
        assert number(hover(page, "Inference", 9, 4)["alone"]) == pytest.approx(alone, rel=6e-4)
        press(page, "Method", "gate")
        assert page.locator("#legend").inner_text().split() == ["neither", "facilitation", "interference", "both"]
        for word, joined in (("always", min), ("any", max), ("mean", np.mean)):
            press(page, "Seeds", word)
            facts = hover(page, "Inference", 15, 3)
            assert number(facts["facilitation"]) == pytest.approx(joined(facilitation), rel=6e-4)
            assert number(facts["interference"]) == pytest.approx(joined(interference), rel=6e-4)
        press(page, "Method", "ablate")
        measured = atlas.table("Inference", "ablate")
        assert panel(page, "Inference").locator(".note").inner_text().startswith(f"{len(measured)} measured")


def test_seeds_that_disagree_in_sign_agree_on_nothing(look, report, atlas):
    stack = np.stack([atlas.grid("Retrieval", "probe", seed=seed) for seed in range(3)])
    layer, head = np.argwhere((stack.min(0) < 0) & (stack.max(0) > 0))[0].tolist()
    with look(report, "seed=always") as page:
        assert hover(page, "Retrieval", layer, head)["information"] == "0"


def test_a_method_says_what_its_numbers_mean(look, report, atlas):
    with look(report) as page:
        for method in ("attribute", "gate"):
            press(page, "Method", method)
            info = atlas.info(method)
            meaning = page.locator("#meaning").inner_text()
            assert meaning == f"{info.title} {info.meaning} {known_heads_line(method)}"
        note = page.locator("#maps-note").inner_text()
        assert note.startswith("roles by gate, mean over seeds. Large facilitation: the head stays open")


def test_numbers_have_their_unit_metric_and_baseline(look, report, tmp_path):
    label = "needed (nats of margin, against the twin)"
    with look(report, "method=attribute&cell=L3H2") as page:
        assert page.locator("#maps-note").inner_text().startswith(f"{label} by attribute.")
        assert page.locator("#legend .legend-title span").first.inner_text() == f"size of {label}"
        assert page.locator("#card .tiny caption").first.inner_text() == f"{label} by attribute"
        page.keyboard.press("f")
        assert label in page.locator("#focus th.number").first.inner_text()
        assert page.locator("#focus figcaption b").first.inner_text() == f"Sizes of {label}, sorted"
        page.wait_for_selector("#run dl")
        headings = page.locator("#competence thead th").all_inner_texts()
        assert {"log-prob. (nats)", "margin (nats)"} <= set(headings)
        axes = page.locator('#evidence [data-test="mask"] .chart .word').all_text_contents()
        assert "log-probability (nats)" in axes
    quantities = {"A": Quantity(metric="margin", baseline="twin"), "B": Quantity(metric="logprob", baseline="zero")}
    maps = [Known(np.ones((4, 3)), task=task) for task in quantities]
    mixed = write_atlas(tmp_path / "mixed", maps, quantities={"attribute": quantities})
    with look(write_page([mixed])) as page:
        assert (
            page.locator("#maps-note")
            .inner_text()
            .startswith("needed (nats; metric and baseline differ between tasks) by attribute.")
        )
        units = page.locator(".grid .map .unit").all_inner_texts()
        assert units == ["margin, against the twin", "log-probability, against zero"]
        press(page, "Scale", "task")
        page.locator(".grid .map .name").nth(1).click()
        assert page.locator("#legend .legend-title span").first.inner_text() == (
            "size of needed (nats of log-probability, against zero)"
        )


def test_roles_have_the_colours_of_the_figures(look, report):
    with look(report, "method=gate") as page:
        page.wait_for_selector('#evidence [data-test="order"]')
        chips = page.locator("#legend .chips i").evaluate_all("nodes => nodes.map(node => node.style.background)")
        parts = {role: tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for role, colour in ROLES.items()}
        assert chips[1:3] == [f"rgb{parts[role]}" for role in ("facilitation", "interference")]
        line = page.locator("#evidence .key i.facilitation")
        assert line.evaluate("node => getComputedStyle(node).borderTopColor") == f"rgb{parts['facilitation']}"


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
