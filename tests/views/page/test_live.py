"""The page of an atlas that grows, in a real browser."""

import pytest
from playwright.sync_api import expect

from headatlas.atlas.run_record import write_run
from headatlas.views.page import write_page
from tests.atlases import rich_atlas
from tests.views.serving import served

pytestmark = pytest.mark.browser


def grown(folder, methods, pending=()):
    """The atlas of a run that has these methods, published; without methods what it is after competence."""
    atlas = rich_atlas(folder, ["A", "B"], (12, 6), methods=methods or ("attribute",), tests=(), tested=())
    atlas.run.pending = list(pending)
    if not methods:
        atlas.run.methods, atlas.run.default_method, atlas.run.quantities = [], None, {}
    write_run(folder, atlas.run)
    write_page([type(atlas)(folder)])
    return folder


def methods_shown(page):
    return page.locator('.toolbar [aria-label="Method"] button')


def test_before_the_first_map_there_is_competence_and_what_is_to_come(look, tmp_path):
    with look(grown(tmp_path / "a", (), ["attribute", "gate"]) / "report.html") as page:
        assert page.locator(".pending").inner_text().startswith("Still to come: attribute, gate. ")
        expect(page.locator("#competence tbody tr")).to_have_count(2)
        assert page.locator(".masthead nav a").all_inner_texts() == ["Competence", "Run"]
        assert page.locator(".stage").is_hidden() and page.locator("#findings").is_hidden()
        page.keyboard.press("m")
        page.locator("#theme").click()
        assert page.watched.requests == [(tmp_path / "a" / "report.html").resolve().as_uri()]


def test_the_page_grows_and_stays_as_the_reader_left_it(look, tmp_path):
    folder = grown(tmp_path / "a", ("attribute",), ["gate", "probe"])
    with served([folder]) as address, look(address, "heads=L2H1,L3H4&theme=dark", height=500, offline=False) as page:
        assert page.locator(".pending").inner_text().startswith("Still to come: gate, probe. ")
        expect(page.locator("#findings")).to_contain_text("Findings come at the end, from all maps together.")
        page.wait_for_selector("#run h2")
        page.evaluate("scrollTo(0, 700)")
        before = page.evaluate("scrollY")
        assert before > 300
        grown(folder, ("attribute", "gate"), ["probe"])
        expect(methods_shown(page)).to_have_count(2)
        expect(page.locator(".pending")).to_contain_text("Still to come: probe. ")
        assert page.locator("#names").inner_text() == "L2H1,L3H4"
        assert page.locator("html").get_attribute("data-theme") == "dark"
        page.wait_for_function(f"Math.abs(scrollY - {before}) < 3")
        grown(folder, ("attribute", "gate", "probe"))
        expect(methods_shown(page)).to_have_count(3)
        assert page.locator(".pending").count() == 0
        page.watched.problems = [text for text in page.watched.problems if "/events" not in text]  # closed by itself


def test_no_dialogue_is_closed_under_the_readers_eyes(look, tmp_path):
    folder = grown(tmp_path / "a", ("attribute",), ["gate"])
    with served([folder]) as address, look(address, offline=False) as page:
        page.locator("#help").click()
        grown(folder, ("attribute", "gate"))
        page.wait_for_timeout(2000)  # longer than the server waits between two looks
        assert page.locator("#keys").is_visible()
        page.keyboard.press("Escape")
        expect(methods_shown(page)).to_have_count(2)
        page.watched.problems = [text for text in page.watched.problems if "/events" not in text]


def test_a_page_that_waits_becomes_the_page_of_the_atlas(browser, tmp_path):
    page = browser.new_page()
    page.set_default_timeout(120_000)
    with served([tmp_path / "a"]) as address:
        page.goto(address)
        assert "There is no atlas in" in page.locator("#waiting").inner_text()
        grown(tmp_path / "a", ("attribute",))
        page.wait_for_selector("body.ready")
        assert page.locator("h1").inner_text().startswith("made-up")
        page.close()
