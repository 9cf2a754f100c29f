"""Printing a page to PDF with the Chromium or Chrome of the system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from headatlas.errors import HeadAtlasError
from headatlas.files import atomic

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120  # that a browser may take
LONGEST_MESSAGE = 300  # letters of what a browser says, counted from its end


def print_pdf(page: Path, pdf: Path) -> Path:
    """Print an HTML file and return the path of the PDF."""
    if not page.exists():
        raise HeadAtlasError(f"There is no page {page} to print. Write it with: headatlas report {page.parent}")
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        raise HeadAtlasError(
            f"No browser was found to print {page}: none of {', '.join(NAMES)} is on the PATH. Install Chromium, or "
            "open the page in a browser and print it from there."
        )
    with atomic(pdf) as temporary:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        command += [f"--print-to-pdf={temporary.resolve()}", page.resolve().as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HeadAtlasError(f"{browser} could not print {page}: {error}.") from None
        if done.returncode or not temporary.exists():
            raise HeadAtlasError(f"{browser} could not print {page}: {done.stderr.strip()[-LONGEST_MESSAGE:]}")
    return pdf
