"""The page in Chromium: its size, its first paint, and what switching costs, for a usual and for a large model."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.clock import report
from headatlas.atlas.atlas import Atlas
from headatlas.views.page import write_page
from headatlas.views.pdf import NAMES
from tests.atlases import rich_atlas
from tests.atlases.portraits import write_portraits

PORTRAYED = [(layer, head) for layer in range(20) for head in range(3)]
NEXT_FRAME = """async (press) => {
    document.querySelector(press).click();
    await new Promise((done) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = done;
        channel.port2.postMessage(0);
    }));
}"""


def run() -> None:
    from playwright.sync_api import sync_playwright

    executable = next((path for name in NAMES if (path := shutil.which(name))), None)
    if executable is None:
        print(f"The page is measured in a browser, and none of {', '.join(NAMES)} is on the PATH.")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        usual = rich_atlas(Path(folder) / "usual")
        tasks = [f"task {i}" for i in range(20)]
        methods = ["probe", "attribute", "gate"]
        large = rich_atlas(Path(folder) / "large", tasks, (80, 64), kv_heads=8, methods=methods, seeds=2, unmapped=())
        browser = driver.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        for name, atlas in (("30 x 9, 8 tasks", usual), ("80 x 64, 20 tasks", large)):
            write_portraits(atlas, PORTRAYED, atlas.tasks[:4])
            _measure(browser, name, atlas)
        browser.close()


def _measure(browser: Any, name: str, atlas: Atlas) -> None:
    began = time.perf_counter()
    path = write_page([atlas])
    report(f"page, {name}: written in", time.perf_counter() - began, "s", "below 10")
    report(f"page, {name}: size", path.stat().st_size / 1e6, "MB", "below 5 for a usual run")
    page = browser.new_page(viewport={"width": 1600, "height": 1000})
    page.goto(path.resolve().as_uri())
    page.wait_for_selector("body.ready", timeout=120_000)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    report(f"page, {name}: first paint", paint / 1000, "s", "below 1")
    page.wait_for_timeout(3000)
    methods = atlas.methods
    costs = _switching(page, [f'.toolbar [data-value="{method}"]' for method in methods * 3])[len(methods) :]
    report(f"page, {name}: changing the method, median", statistics.median(costs), "ms", "below 100")
    report(f"page, {name}: changing the method, slowest of {len(costs)}", max(costs), "ms", "below 100")
    costs = _switching(page, ["#swap-axes"] * 5)
    report(f"page, {name}: exchanging the axes of the scatter, slowest of {len(costs)}", max(costs), "ms", "below 100")
    page.evaluate("location.hash = 'cell=L0H0'")
    page.wait_for_selector("#portrait .flow")
    costs = _switching(page, [f'#portrait [data-step="{task}"]' for task in atlas.tasks[:4]])
    report(f"page, {name}: another task of a portrait, slowest of {len(costs)}", max(costs), "ms", "below 100")
    page.close()


def _switching(page: Any, presses: list[str]) -> list[float]:
    """Milliseconds that the page's thread works from each press to the next frame; other programs do not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    times = []
    for press in presses:
        page.wait_for_timeout(600)  # what the page does when nobody waits, such as naming cells, is over
        before = worked()
        page.evaluate(NEXT_FRAME, press)
        times.append((worked() - before) * 1000)
    return times
