"""A real browser for the page, without any network."""

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

from headatlas.views.page import write_page
from tests.atlases import made_up_findings, rich_atlas

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    executable = next((path for name in NAMES if (path := shutil.which(name))), None)
    if executable is None:
        pytest.skip(f"none of {', '.join(NAMES)} is on the PATH; tests/install_browser.sh installs one where it may")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=120_000)
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=executable, args=list(QUIET))
        yield running
        running.close()


@dataclass
class Watched:
    """What went wrong while a page was open, and what it asked for."""

    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def look(browser):
    """Open a page with the network off: `with look(path, "method=probe") as page`. Fails on any error of the page."""

    @contextmanager
    def opened(target: Path | str, view: str = "", width: int = 1600, height: int = 1000, offline: bool = True, **more):
        context = browser.new_context(
            viewport={"width": width, "height": height}, offline=offline, accept_downloads=True, **more
        )
        page, watched = context.new_page(), Watched()
        page.on("console", lambda m: m.type in ("error", "warning") and watched.problems.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda error: watched.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (watched.problems.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: watched.requests.append(request.url))
        page.on("requestfailed", lambda request: watched.problems.append(f"failed: {request.url}"))
        page.watched = watched
        page.set_default_timeout(120_000)  # a busy machine is no fault of the page
        address = target.resolve().as_uri() if isinstance(target, Path) else target
        page.goto(f"{address}#{quote(view, safe='=&,')}" if view else address)
        page.wait_for_selector("body.ready")
        try:
            yield page
            assert watched.problems == []
        finally:
            context.close()

    return opened


@pytest.fixture(scope="session")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("browser") / "atlas")


@pytest.fixture(scope="session")
def report(atlas):
    return write_page([atlas], findings=[made_up_findings()])
