"""The page in a real browser: saving, hostile names, two atlases, large models, the server."""

import csv
import io
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from headatlas.patterns import Finding
from headatlas.views.page import write_page
from tests.atlases import rich_atlas
from tests.views.serving import served

pytestmark = pytest.mark.browser


def saved(page, kind):
    with page.expect_download() as download:
        page.locator(f'[data-save="{kind}"]').click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_saving_numbers_and_pictures(look, report, atlas):
    with look(report, "method=attribute") as page:
        name, content = saved(page, "csv")
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert name.endswith(".csv") and len(rows) == 270 * 7
        grid = atlas.grid("Retrieval", "attribute")
        retrieval = [row for row in rows if row["task"] == "Retrieval"]
        for row in retrieval[::31]:
            assert float(row["value"]) == pytest.approx(grid[int(row["layer"]), int(row["head"])], rel=1e-5)
        ranked = sorted(retrieval, key=lambda row: int(row["rank"]))
        assert [(int(row["layer"]), int(row["head"])) for row in ranked] == atlas.ranking("Retrieval", "attribute")
        name, content = saved(page, "svg")
        picture = ElementTree.fromstring(content)
        assert len(picture.findall(".//{*}rect")) > 270 * 7
        assert "Math Calculation" in [text.text for text in picture.findall(".//{*}text")]
        name, content = saved(page, "png")
        assert name.endswith(".png") and content.startswith(b"\x89PNG") and len(content) > 20_000
        page.keyboard.press("f")
        assert len(saved(page, "csv")[1].splitlines()) == 271


def test_copying_a_selection(look, report):
    with look(report, "heads=L2H1,L12H3", permissions=["clipboard-read", "clipboard-write"]) as page:
        page.keyboard.press("c")
        expect(page.locator("#copy")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == "L2H1,L12H3"


HOSTILE = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"quotes' & <b>bold</b>",
    "line\u2028para\u2029", "<!--", "%%data%%", "مهمة 😀", "=1+1", "a" * 300, "javascript:alert(3)",
]  # fmt: skip


def test_hostile_names_are_only_text(look, tmp_path):
    atlas = rich_atlas(tmp_path / "a", HOSTILE, (6, 4), unmapped=HOSTILE[1:2], name="</title><script>alert(4)</script>")
    findings = [
        Finding(
            kind="x", tasks=(HOSTILE[0],), method="probe", measure="information", statement=HOSTILE[0] + HOSTILE[1],
            value=1, effect=1, null=HOSTILE[1], p=0.01, p_adjusted=0.01, supported=supported,
        )
        for supported in (True, False)
    ]  # fmt: skip
    with look(write_page([atlas], findings=[findings])) as page:
        page.wait_for_selector("#run dl")
        assert page.evaluate("[...document.querySelectorAll('.grid .map')].map((map) => map.dataset.task)") == HOSTILE
        assert page.locator(".grid .map .name").first.text_content() == HOSTILE[0]
        assert page.evaluate("document.querySelectorAll('script').length") == 2
        assert page.evaluate("document.querySelectorAll('main img, main b.bold').length") == 0
        page.locator(".grid .map .name").nth(2).click()
        assert page.locator("#maps-title").text_content() == HOSTILE[2]
        page.keyboard.press("x")
        page.locator("#focus .cell").first.hover(force=True)
        assert HOSTILE[2] in page.locator("#tip").text_content()
        page.keyboard.press("f")
        rows = list(csv.DictReader(io.StringIO(saved(page, "csv")[1].decode(), newline="")))
        assert {row["task"] for row in rows} == set(HOSTILE) - {HOSTILE[1]}
        ElementTree.fromstring(saved(page, "svg")[1])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        view = page.url.split("#")[1]
    with look(tmp_path / "a" / "report.html", view):
        pass


def test_nothing_that_is_added_can_run(look, report):
    with look(report) as page:
        page.evaluate(
            """() => { const script = document.createElement('script'); script.textContent = 'window.ran = true';
            document.body.append(script); }"""
        )
        assert page.evaluate("window.ran") is None
        assert any("Content Security Policy" in problem for problem in page.watched.problems)
        page.watched.problems.clear()


def test_two_models_side_by_side(look, tmp_path, atlas):
    other = rich_atlas(tmp_path / "other", shape=(12, 8), seed=4, name="other", methods=["attribute"])
    with look(write_page([atlas, other], tmp_path / "two.html"), "method=attribute") as page:
        expect(page.locator(".grid .cell")).to_have_count(7 * (270 + 96))
        assert page.locator("h1").all_inner_texts()[1].startswith("other")
        page.locator('.map[data-atlas="1"][data-task="Retrieval"] .cell[data-layer="2"][data-head="7"]').click()
        assert page.locator(".card-name").inner_text().split() == ["L2H7", "other"]
        outlined = 'nodes => nodes.filter(node => node.getAttribute("d")).length'
        assert page.locator('.grid [data-atlas="1"] .chosen').evaluate_all(outlined) == 7
        assert page.locator('.grid [data-atlas="0"] .chosen').evaluate_all(outlined) == 0  # another model, other heads
        page.locator('.toolbar [data-value="probe"]').click()
        missing = page.locator('.map[data-atlas="1"][data-task="Retrieval"] .none')
        assert missing.inner_text() == "not measured by probe"
        page.keyboard.press("f")
        assert page.locator("#focus .map").count() == 2
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_two_runs_of_one_model_share_the_selection(look, tmp_path, atlas):
    again = rich_atlas(tmp_path / "again")
    with look(write_page([atlas, again], tmp_path / "two.html"), "heads=L4H4") as page:
        shared = page.locator(".map .chosen").evaluate_all('nodes => nodes.map(node => node.getAttribute("d"))')
        assert shared and set(shared) == {"M4 4h1v1h-1z"}
        assert "(again)" in page.locator("h1").nth(1).inner_text()


@pytest.mark.slow
def test_eighty_layers_of_sixty_four_heads(look, tmp_path):
    tasks = [f"task {i}" for i in range(6)]
    methods = ["probe", "attribute", "gate"]
    atlas = rich_atlas(tmp_path / "a", tasks, (80, 64), kv_heads=8, methods=methods, seeds=2, unmapped=(), tested=())
    with look(write_page([atlas])) as page:
        expect(page.locator('.map[data-task="task 0"] .cell')).to_have_count(5120)
        mean = atlas.grid("task 0", "probe")[40, 21]
        cell = page.locator('.map[data-task="task 0"] .cell[data-layer="40"][data-head="21"]').bounding_box()
        page.mouse.move(cell["x"] + 1, cell["y"] + 1)
        assert page.locator("#tip strong").inner_text() == "L40H21"
        shown = page.locator('#tip [data-fact="information"] b').inner_text()
        assert float(shown.replace("−", "-")) == pytest.approx(mean, rel=6e-4)
        layer, head = atlas.ranking("task 0", "probe")[0]
        painted = (
            "([x, y]) => [...document.querySelector('.map canvas').getContext('2d').getImageData(x, y, 1, 1).data]"
        )
        assert page.evaluate(painted, [head, layer]) == [253, 231, 37, 255]  # the first head, at the top of the scale
        page.locator('.map[data-task="task 5"]').scroll_into_view_if_needed()
        expect(page.locator('.map[data-task="task 5"] .cell')).to_have_count(5120)
        page.locator('.toolbar [data-value="gate"]').click()
        page.locator('.map[data-task="task 0"]').scroll_into_view_if_needed()
        cell = page.locator('.map[data-task="task 0"] .cell[data-layer="40"][data-head="21"]').bounding_box()
        page.mouse.move(cell["x"] + 1, cell["y"] + 1)
        shown = page.locator('#tip [data-fact="facilitation"] b').inner_text()
        facilitation = atlas.grid("task 0", "gate", "facilitation")[40, 21]
        assert float(shown.replace("−", "-")) == pytest.approx(facilitation, rel=6e-3)


def test_the_server_shows_the_same_page(look, atlas):
    with served([atlas.path]) as address, look(address, offline=False) as page:
        assert page.locator(".cell").count() >= 270
        page.wait_for_selector(".files a")
        with page.expect_download() as download:
            page.locator(".files a", has_text="scores.parquet").click()
        assert download.value.path().read_bytes() == (atlas.path / "scores.parquet").read_bytes()
        assert all(url.startswith(address) for url in page.watched.requests)
        # Chromium calls a navigation that becomes a download aborted.
        page.watched.problems = [problem for problem in page.watched.problems if "scores.parquet" not in problem]
