"""Printing a page with the browser of the system."""

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.views.pdf import print_pdf


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("<p>page</p>")
    return path


def install(folder, monkeypatch, script):
    browser = folder / "bin" / "chromium"
    browser.parent.mkdir()
    browser.write_text(f"#!/bin/sh\n{script}\n")
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{browser.parent}:/usr/bin:/bin")


def test_the_browser_writes_the_pdf(page, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, 'echo "%PDF of $6" > "${5#--print-to-pdf=}"')
    pdf = print_pdf(page, tmp_path / "report.pdf")
    assert pdf.read_text() == f"%PDF of {page.resolve().as_uri()}\n"


def test_what_the_browser_says_is_passed_on_and_nothing_is_left(page, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "echo broken >&2; exit 3")
    with pytest.raises(HeadAtlasError, match=f"could not print {page}: broken"):
        print_pdf(page, tmp_path / "report.pdf")
    assert not list(tmp_path.glob("*.pdf*"))


def test_without_a_browser_or_a_page_the_error_says_what_to_do(page, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeadAtlasError, match="none of chromium, .* is on the PATH. Install Chromium"):
        print_pdf(page, tmp_path / "report.pdf")
    with pytest.raises(HeadAtlasError, match=f"There is no page .*none.html to print. .* headatlas report {tmp_path}"):
        print_pdf(tmp_path / "none.html", tmp_path / "report.pdf")
