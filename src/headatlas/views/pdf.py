"""Printing a page to PDF with the Chromium or Chrome of the system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from headatlas.errors import HeadAtlasError
from headatlas.files import atomic

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


def print_pdf(page: Path, pdf: Path) -> Path:
    """Print an HTML file; the errors say what is missing."""
    if not page.exists():
        raise HeadAtlasError(f"There is no {page} to print. Map again to write it, or read report.md instead.")
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        raise HeadAtlasError(
            f"No browser was found to print {page}: looked for {', '.join(NAMES)}. Install Chromium, or open the page "
            "and print it yourself."
        )
    with atomic(pdf) as temporary:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        command += [f"--print-to-pdf={temporary.resolve()}", page.resolve().as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HeadAtlasError(f"{browser} could not print {page}: {error}.") from None
        if done.returncode or not temporary.exists():
            raise HeadAtlasError(f"{browser} could not print {page}: {done.stderr.strip()[-300:]}")
    return pdf
