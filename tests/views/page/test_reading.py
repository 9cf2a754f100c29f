"""The page as it is read: on paper, on a small screen, with maps of some tasks only, from a finding to its heads."""

from dataclasses import replace

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.declarations import TestInfo
from headatlas.views.page import write_page
from headatlas.views.page.evidence import SHAPES
from tests.atlases import made_up_findings, rich_atlas
from tests.views.page.test_browser import cell, chosen, hover, panel, press

pytestmark = pytest.mark.browser

SURE = 'nodes => nodes.filter(node => node.matches(".sure")).length'


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    """An atlas whose gates cover two tasks only."""
    atlas = rich_atlas(tmp_path_factory.mktemp("partial") / "atlas")
    scores = pq.read_table(atlas.path / "scores.parquet")
    gated = pc.is_in(scores["task"], value_set=pc.cast(["Inference", "Math Calculation"], scores["task"].type))
    pq.write_table(scores.filter(pc.or_(pc.not_equal(scores["method"], "gate"), gated)), atlas.path / "scores.parquet")
    return write_page([Atlas(atlas.path)])


ON_PAPER = """() => {
    const look = () => ({
        theme: document.documentElement.dataset.theme,
        folded: document.querySelectorAll("details:not([open])").length,
        surface: getComputedStyle(document.querySelector("#run")).backgroundColor,
        cells: [...document.querySelectorAll(".matrix td")].map((cell) => cell.style.background).join(),
        fills: [...document.querySelectorAll(".cell")].map((cell) => cell.getAttribute("fill")).join(),
    });
    const before = look();
    addEventListener("beforeprint", () => { window.printed = look(); });
    window.again = () => ({ before, printed: window.printed, after: look() });
    return before;
}"""


def test_paper_is_light_and_nothing_is_folded_away(look, report):
    view = "method=attribute&sign=signed"
    with look(report, view) as page:
        page.wait_for_selector("#run dl")
        expect(page.locator(".grid .cell")).to_have_count(270 * 7)
        light = page.evaluate(ON_PAPER)
    with look(report, f"{view}&theme=dark") as page:
        page.wait_for_selector("#run dl")
        expect(page.locator(".grid .cell")).to_have_count(270 * 7)
        dark = page.evaluate(ON_PAPER)
        assert dark["theme"] == "dark" and dark["folded"] > 2 and dark["cells"] != light["cells"]
        page.pdf()
        seen = page.evaluate("again()")
        assert seen["printed"] == light | {"folded": 0}
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        assert page.locator("details[open]").count() == 0
        page.wait_for_function("(cells) => again().after.cells === cells", arg=dark["cells"])


def test_a_small_screen_is_not_scrolled_sideways(look, report):
    with look(report, width=390, height=800) as page:
        page.wait_for_selector("#run dl")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        columns = page.locator(".overlap").evaluate("node => getComputedStyle(node).gridTemplateColumns")
        assert len(columns.split()) == 1


BROKEN = """nodes => nodes.flatMap((node) => [...node.textContent.matchAll(/[A-Za-z]+/g)].filter((word) => {
    const range = document.createRange();
    range.setStart(node.firstChild, word.index);
    range.setEnd(node.firstChild, word.index + word[0].length);
    return range.getClientRects().length > 1 || node.scrollWidth > node.clientWidth;
}).map((word) => word[0]))"""


def test_words_of_columns_are_not_broken(look, report):
    with look(report, width=800) as page:
        page.wait_for_selector("#agreement .matrix")
        heads = page.locator("#agreement .matrix thead th, #overlap .matrix thead th")
        assert heads.count() > 14 and heads.evaluate_all(BROKEN) == []


def test_numbers_of_another_view_do_not_stay(look, report):
    with look(report) as page:
        hover(page, "Retrieval", 3, 2)
        page.keyboard.press("m")
        assert page.locator("#tip").is_hidden()


def test_a_drag_that_is_taken_away_ends(look, report):
    with look(report) as page:
        panel(page, "Inference").scroll_into_view_if_needed()
        start, end = (cell(page, "Inference", *place).bounding_box() for place in ((10, 2), (12, 4)))
        page.mouse.move(start["x"] + 3, start["y"] + 3)
        page.mouse.down()
        page.mouse.move(end["x"] + 3, end["y"] + 3, steps=3)
        mark = panel(page, "Inference").locator(".drag")
        assert mark.get_attribute("d")
        page.evaluate("dispatchEvent(new PointerEvent('pointercancel'))")
        assert mark.get_attribute("d") == ""
        page.mouse.up()
        assert chosen(page) == set()


def test_a_task_alone_is_seen_from_its_top(look, report):
    with look(report) as page:
        page.locator("#run").scroll_into_view_if_needed()
        page.keyboard.press("f")
        top = page.evaluate("document.getElementById('maps').getBoundingClientRect().top")
        assert page.evaluate("document.getElementById('toolbar').getBoundingClientRect().bottom") <= top < 200


def test_tasks_without_a_map_of_the_method(look, partial):
    with look(partial, "method=gate") as page:
        assert page.locator("#pick-task option").all_inner_texts() == ["Inference", "Math Calculation"]
        page.keyboard.press("ArrowDown")
        assert page.locator("#live").inner_text().startswith("Inference: layer 0 head 0")
        page.locator("#pick-k").fill("5")
        assert len(chosen(page)) == 5
        page.locator("#maps-title").click()
        page.keyboard.press("]")
        page.keyboard.press("f")
        assert page.locator("#maps-title").inner_text() == "Math Calculation"
        page.locator('[data-step="Retrieval"]').click()
        assert page.locator("#focus .none").inner_text() == "not measured by gate"
        assert page.locator("#pick-note").inner_text() == "Retrieval: not measured by gate."
        press(page, "Method", "probe")
        assert page.locator("#pick-note").inner_text() == "Ranked by probe: largest information first."
        assert page.locator("#pick-task option").count() == 7


def test_of_many_findings_the_first_ten_stand_open_and_the_others_count_on(look, atlas, tmp_path):
    first, *_ = made_up_findings()
    findings = [replace(first, statement=f"Number {i + 1}.") for i in range(12)]
    with look(write_page([atlas], tmp_path / "page.html", [findings])) as page:
        page.wait_for_selector("#findings .supported")
        assert page.locator("#findings .supported li:visible").count() == 10
        page.locator("#findings .more > summary", has_text="2 more patterns").click()
        shown = page.locator("#findings .supported li:visible .statement").all_inner_texts()
        assert shown == [f"Number {i + 1}." for i in range(12)]
        reset = page.locator("#findings .more > .supported").evaluate("node => getComputedStyle(node).counterReset")
        assert reset == "supported 10"


def test_what_is_not_supported_is_folded_by_kind(look, atlas, tmp_path):
    *_, first, second = made_up_findings()
    findings = [replace(first, kind="far", p_adjusted=0.9), replace(second, kind="near", p_adjusted=0.4)]
    with look(write_page([atlas], tmp_path / "page.html", [findings])) as page:
        page.locator("#findings summary").first.click()
        kinds = page.locator("#findings .unsupported > details")
        assert kinds.evaluate_all("nodes => nodes.map(node => node.dataset.kind)") == ["near", "far"]
        kinds.first.locator("summary").click()
        line = kinds.first.locator(".statement")
        assert line.evaluate("node => getComputedStyle(node).textDecorationLine") == "none"


def test_the_heads_of_a_finding_are_shown_on_its_maps(look, report):
    with look(report, "task=Inference") as page:
        page.locator("#findings .supported .head").click()
        assert chosen(page) == {"L12H3"}
        assert page.locator('[aria-label="Method"] [aria-pressed="true"]').inner_text() == "Certified ablation"
        assert page.locator("#pick-task").input_value() == "Knowledge Recall"


def test_the_head_that_hurts_most_comes_last_and_is_in_no_test(look, report, atlas):
    table = atlas.table("Retrieval", "attribute")
    for row, included in ((table.iloc[-1], False), (table.iloc[0], True)):
        with look(report, f"method=attribute&cell=L{int(row.layer)}H{int(row['head'])}") as page:
            page.wait_for_selector("#card .ranks")
            text = page.locator("#card").text_content()
            assert ("mask with the top 1 of Retrieval (attribute, rank 1)" in text) == included
            ranks = page.locator("#card .ranks tr", has_text="Retrieval").locator("td").all_inner_texts()
            assert ranks[1] == str(int(row["rank"]))


def test_differences_carry_their_intervals(look, report, atlas):
    with look(report, "method=attribute") as page:
        page.wait_for_selector('#evidence [data-test="specificity"] td')
        heads = page.locator('#evidence [data-test="specificity"] .matrix thead th').all_inner_texts()
        assert heads[-1].split() == ["top", "minus", "other", "tasks'", "heads"]
        rows = atlas.evidence.query(
            "method == 'attribute' and test == 'specificity' and metric == 'logprob' and compared_with.notna()"
        )
        last = page.locator('#evidence [data-test="specificity"] td:last-child')
        assert last.evaluate_all(SURE) == ((rows.low > 0) | (rows.high < 0)).sum()
        shown = last.first.inner_text().split()
        first = rows.iloc[0]
        expected = [first.value, first.low, first.high]
        assert [float(shown[i].replace("−", "-")) for i in (0, 1, 3)] == pytest.approx(expected, abs=6e-3)
        rows = atlas.evidence.query(
            "method == 'attribute' and test == 'hierarchy' and metric == 'logprob' and compared_with == 'random'"
        )
        cells = page.locator('#evidence [data-test="hierarchy"] td')
        assert cells.evaluate_all(SURE) == ((rows.low > 0) | (rows.high < 0)).sum()
        assert "to" in cells.first.inner_text() and "random" not in cells.first.inner_text()


@pytest.mark.parametrize("view", ["evidence", "agreement&method=attribute&k=4"])
def test_an_address_leads_to_its_section(look, report, view):
    section = view.split("&")[0]
    landed = f"(() => {{ const at = document.getElementById('{section}').getBoundingClientRect().top;"
    with look(report, view) as page:
        page.wait_for_function(f"{landed} return document.querySelector('#run dl') && at > 0 && at < 200; }})()")
        assert page.evaluate("location.hash") == f"#{view}"


def test_the_address_names_the_section(look, report):
    with look(report, "method=attribute") as page:
        page.locator(".masthead nav a", has_text="Evidence").click()
        assert "#evidence&method=attribute" in page.url
        press(page, "Method", "gate")
        assert "#evidence&method=gate" in page.url


def test_the_focus_stays_on_the_control(look, report):
    focused = """([wanted, value]) => { const active = document.activeElement;
        const group = active.closest('[data-test]')?.dataset.test ?? active.closest('[role=group]')?.ariaLabel;
        return group === wanted && active.dataset.value === value; }"""
    with look(report) as page:
        page.wait_for_selector("#run dl")
        page.locator('.toolbar [data-value="gate"]').press("Enter")
        page.wait_for_function(focused, arg=["Method", "gate"])  # a section may be drawn a moment later
        page.keyboard.press("ArrowDown")
        assert "cell=L0H0" in page.url
        page.locator('#evidence [data-test="keep"], #evidence [data-test="specificity"]').last.locator(
            '[data-value="accuracy"]'
        ).press("Enter")
        page.wait_for_function(focused, arg=["specificity", "accuracy"])
        page.locator('#evidence .section-head [data-value="attribute"]').press("Enter")
        page.wait_for_function(focused, arg=["Heads chosen by", "attribute"])


def test_every_test_that_includes_a_head_is_named_once(look, report, atlas):
    """The first head of a task is in all its tests; each stands there once, whatever its metrics."""
    first = atlas.table("Knowledge Recall", "probe").iloc[0]
    with look(report, f"cell=L{int(first.layer)}H{int(first['head'])}") as page:
        page.wait_for_selector("#card .includes li")
        lines = page.locator("#card .includes li").all_text_contents()
        names = [line.split(":")[0] for line in lines]
        assert len(set(names)) == len(names)
        tests = [name.split()[0] for name in names if "of Knowledge Recall (probe, rank 1)" in name]
        assert sorted(tests) == ["hierarchy", "keep", "mask", "specificity", "steer"]
        titles = page.locator("#card .ranks td[title]").evaluate_all("nodes => nodes.map(node => node.title)")
        assert f"{first.value:.3g}, rank 1 of 270" in titles


def test_curves_begin_with_no_head(look, report, atlas):
    with look(report) as page:
        page.wait_for_selector('#evidence [data-test="mask"] figure')
        titles = page.locator('#evidence [data-test="mask"] figure').first.locator(".dot title").all_text_contents()
        assert [title for title in titles if ", heads removed 0: " in title] == [
            f"{name}, heads removed 0: −1 (−1 to −1)" for name in ("random", "lowest", "top")
        ]
        keep = page.locator('#evidence [data-test="keep"]')
        assert "random (range of 10 draws)" in keep.locator(".key").inner_text()
        assert "random (20 draws)" in page.locator('#evidence [data-test="mask"] .key').inner_text()


def test_a_test_explains_itself_and_how_it_was_run(look, report, atlas):
    with look(report) as page:
        page.wait_for_selector("#run dl")
        block = page.locator('#evidence [data-test="keep"]')
        info = atlas.run.test("keep")
        assert block.locator("h3").inner_text() == info.title
        assert block.locator(".block-head p").inner_text() == info.question
        assert block.locator(".settings").is_hidden()
        block.locator("summary").click()
        assert "as many random heads of the same layers" in block.locator("dl").first.inner_text()
        terms = block.locator(".settings dt").all_inner_texts()
        assert {"ks", "draws", "baseline", "seed", "finished"} <= set(terms)
        assert "proves" not in page.locator("#evidence h2, #evidence h3").all_inner_texts()


def test_a_registered_test_of_a_known_shape_is_shown(look, tmp_path):
    info = TestInfo(
        name="mine", title="A test of mine", summary="", question="Does it show?", shape="curve", axis="pushes"
    )
    atlas = rich_atlas(tmp_path / "a", shape=(6, 4), methods=["attribute"], tests=[info])
    with look(write_page([atlas])) as page:
        page.wait_for_selector('#evidence [data-test="mine"] figure')
        block = page.locator('#evidence [data-test="mine"]')
        assert block.locator("h3").inner_text() == "A test of mine"
        assert block.locator("figure").count() == 7 and "pushes" in block.locator("figure").first.inner_text()


def test_a_shape_that_the_page_does_not_know_is_a_table(look, tmp_path, monkeypatch):
    monkeypatch.delitem(SHAPES, "change")
    atlas = rich_atlas(tmp_path / "a", shape=(6, 4), methods=["attribute"], tests=["steer"])
    with look(write_page([atlas])) as page:
        page.wait_for_selector('#evidence [data-test="steer"] table')
        rows = atlas.evidence.query("metric == 'accuracy'")
        assert page.locator('#evidence [data-test="steer"] tbody tr').count() == len(rows)
