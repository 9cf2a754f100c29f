"""The atlas picture in a real browser: the first thing on the page."""

import csv
import io
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from headatlas.patterns.functions import function_counts, head_functions
from headatlas.views.page import write_page
from headatlas.wording import head_name, p_value, percent
from tests.atlases import rich_atlas
from tests.views.page.test_browser import chosen
from tests.views.page.test_functions import known_atlas

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(
        tmp_path_factory.mktemp("picture") / "atlas", ablated=1.0, methods=["attribute", "ablate"], tested=()
    )


@pytest.fixture(scope="module")
def report(atlas):
    return write_page([atlas])


@pytest.fixture(scope="module")
def functions(atlas):
    return head_functions(atlas)


def cell(page, layer, head):
    return page.locator(f'.picture .cell[data-layer="{layer}"][data-head="{head}"]')


def shown_facts(page):
    rows = page.locator("#tip [data-fact]")
    return [
        (row.get_attribute("data-fact"), row.locator("b").inner_text().replace("\u00a0", " ")) for row in rows.all()
    ]


def expected_facts(rows):
    return [
        pair
        for row in rows.itertuples()
        for pair in (
            ("for", row.task), ("share", percent(row.share)),
            ("95", f"{percent(row.share_low)} to {percent(row.share_high)}"), ("specific", percent(row.specific)),
            ("q", p_value(row.q_value).replace("e−0", "e−")),
        )
    ]  # fmt: skip


def several(functions):
    """The rows of a head with more than one function."""
    return next(rows for _, rows in functions.groupby(["layer", "head"]) if len(rows) > 1)


def test_it_comes_first_and_counts_the_heads(look, report, atlas, functions):
    with look(report) as page:
        links = page.locator(".masthead nav a").all_inner_texts()
        assert links[:2] == ["Atlas", "Maps"]
        picture, maps = page.locator("#functions").bounding_box(), page.locator("#maps").bounding_box()
        assert picture["y"] < maps["y"]
        counts = function_counts(functions, atlas.tasks_of("ablate"))
        names = page.locator(".function-key button span").all_inner_texts()
        numbers = page.locator(".function-key button b").all_inner_texts()
        assert dict(zip(names, map(int, numbers), strict=True)) == counts
        shown = len(functions.drop_duplicates(["layer", "head"]))
        assert page.locator(".sentence").inner_text() == (
            f"{shown} heads have one function or more, for {270 - shown} nothing is shown."
        )
        assert page.locator("#maps-title").inner_text() == "One map per task"


def test_pointing_at_a_head_says_what_it_is_for(look, report, functions):
    with look(report) as page:
        for rows in (functions.head(1), several(functions)):
            rows = functions.merge(rows[["layer", "head"]].drop_duplicates())
            layer, head = (int(rows.iloc[0][name]) for name in ("layer", "head"))
            cell(page, layer, head).hover(force=True)
            expect(page.locator("#tip strong")).to_have_text(head_name(layer, head))
            assert shown_facts(page) == expected_facts(rows)
        assert (
            page.locator("#tip footer").inner_text()
            == "by ablate; share (of positive effects; margin, against the twin)"
        )
        used = set(zip(functions["layer"], functions["head"], strict=True))
        layer, head = next((layer, head) for layer in range(30) for head in range(9) if (layer, head) not in used)
        cell(page, layer, head).hover(force=True)
        expect(page.locator("#tip strong")).to_have_text(head_name(layer, head))
        assert shown_facts(page) == [("none", "nothing shown")]


def test_a_click_opens_the_card_and_selects_in_every_map(look, report, functions):
    row = functions.iloc[0]
    name = head_name(row.layer, row["head"])
    with look(report) as page:
        cell(page, row.layer, row["head"]).click()
        assert chosen(page) == {name} and page.locator(".card-name span").inner_text() == name
        words = page.locator("#card .for li").first.inner_text().replace("\u00a0", " ")
        assert words.split("\n")[-1].startswith(f"For {row.task}: {percent(row.share)} of its positive effects (")
        outlines = page.locator(".stage .chosen").evaluate_all("nodes => nodes.map(node => node.getAttribute('d'))")
        assert set(outlines) == {f"M{row['head']} {row.layer}h1v1h-1z"} and len(outlines) == 8  # and seven maps
        caption = page.locator("#card .tiny caption").first.inner_text()
        assert caption == "needed (nats of margin, against the twin) by ablate"


def test_the_keyboard_reaches_heads_and_functions(look, report, functions, atlas):
    task = atlas.tasks_of("ablate")[1]
    first = functions[functions["task"] == task].iloc[0]
    with look(report) as page:
        page.locator(".picture svg.cells").focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
            page.keyboard.press(key)
        assert "cell=L1H1" in page.url and "task=" not in page.url
        assert page.locator("#live").inner_text().startswith("made-up: layer 1 head 1, ")
        page.keyboard.press("Enter")
        assert chosen(page) == {"L1H1"}
        button = page.locator(".function-key button").nth(1)
        button.focus()
        lit = page.locator(".picture.lit .areas g.on")
        expect(lit).to_have_count(1)
        assert lit.get_attribute("data-function") == "1"
        page.keyboard.press("Enter")
        assert chosen(page) == {
            head_name(*head) for head in functions.loc[functions["task"] == task, ["layer", "head"]].to_numpy()
        }
        assert page.locator(".card-name span").inner_text() == head_name(first.layer, first["head"])
        button.blur()
        expect(page.locator(".picture.lit")).to_have_count(0)


def test_hue_is_not_the_only_code(look, report, functions, atlas):
    """Every part of a head has the letters of its function, as the key has: readable without colour."""
    with look(report) as page:
        letters = page.locator(".letters span")
        assert letters.count() == len(functions)
        assert not page.locator(".letters span[hidden]").count()
        keyed = page.locator(".function-key button i").all_inner_texts()
        assert len(set(keyed)) == len(atlas.tasks_of("ablate")) and set(letters.all_inner_texts()) == set(keyed)
    with look(report, width=390, height=800) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        picture, side, maps = (page.locator(name).bounding_box()["y"] for name in ("#functions", "#side", "#maps"))
        assert picture < side < maps  # the card of a head stands below the picture


def test_dark_has_colours_of_its_own(look, report):
    fills = "nodes => nodes.map(node => node.getAttribute('fill')).join()"
    with look(report) as page:
        light = page.locator(".areas path").evaluate_all(fills)
        page.keyboard.press("t")
        dark = page.locator(".areas path").evaluate_all(fills)
        assert dark != light
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".areas path").evaluate_all(fills) == light
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator(".areas path").evaluate_all(fills) == dark


def saved(page, kind):
    with page.expect_download() as download:
        page.locator(f'[data-save-functions="{kind}"]').click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_saving_the_picture_and_its_numbers(look, report, functions):
    with look(report) as page:
        name, content = saved(page, "csv")
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert name == "headatlas-made-up-functions.csv" and len(rows) == len(functions)
        written = {(int(row["layer"]), int(row["head"]), row["task"]): float(row["share"]) for row in rows}
        for row in functions.itertuples():
            assert written[row.layer, row.head, row.task] == pytest.approx(row.share, rel=1e-3)
        picture = ElementTree.fromstring(saved(page, "svg")[1])
        assert len(picture.findall(".//{*}rect")) > 270
        assert "made-up: what each head is for" in [text.text for text in picture.findall(".//{*}text")]
        assert saved(page, "png")[1].startswith(b"\x89PNG")


def test_a_large_model_is_few_elements(look, tmp_path):
    atlas = rich_atlas(tmp_path / "a", shape=(80, 64), methods=["ablate"], tested=(), ablated=1.0)
    functions = head_functions(atlas)
    with look(write_page([atlas])) as page:
        assert page.locator(".areas path").count() < 200 < len(functions)
        expect(page.locator(".picture .cell")).to_have_count(5120)
        row = functions.iloc[0]
        cell(page, row.layer, row["head"]).hover(force=True)
        expect(page.locator("#tip strong")).to_have_text(head_name(row.layer, row["head"]))
        assert shown_facts(page) == expected_facts(functions.head(1))


def test_nothing_shown_no_picture_and_two_models(look, tmp_path, atlas):
    nothing = known_atlas(tmp_path / "nothing", p=0.3)
    with look(write_page([nothing])) as page:
        assert page.locator(".sentence").inner_text().startswith("No head is shown to be for one task more than")
        page.locator(".picture svg.cells").focus()
        page.keyboard.press("ArrowDown")
        assert page.locator("#live").inner_text() == "made-up: layer 0 head 0, nothing shown"
    without = rich_atlas(tmp_path / "without", methods=["attribute"], tested=())
    with look(write_page([without])) as page:
        assert page.locator("#functions").is_hidden()
        assert page.locator(".masthead nav a").first.inner_text() == "Maps"
        assert page.locator("#maps-title").inner_text() == "What each head is for"
    with look(write_page([atlas, without], tmp_path / "two.html")) as page:
        assert page.locator("#functions .picture").count() == 1
        assert "No method of this atlas says how specific heads are." in page.locator("#functions").inner_text()
