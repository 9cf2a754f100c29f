"""Write `report.html`: template, style, scripts and data in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.errors import UsageError
from headatlas.files import write_bytes
from headatlas.views.page.data import describe_page
from headatlas.views.page.encoding import as_json

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding
    from headatlas.patterns.compare import Comparison

# In the order in which they build on each other; together they are one script.
SCRIPTS = (
    "dom", "data", "colour", "state", "grid", "panel", "maps", "pointer", "charts", "functions", "focus", "card",
    "overlap", "scatter", "brush", "attention", "examples", "portrait_parts", "portrait", "graph", "compare",
    "evidence", "quality", "findings", "run", "download", "keys", "live", "main",
)  # fmt: skip
STYLES = ("page", "maps", "functions", "scatter", "portrait", "parts")
MOST = 2


def write_page(
    atlases: Sequence[Atlas],
    path: str | Path | None = None,
    findings: Sequence[Sequence[Finding]] = (),
    comparison: Comparison | None = None,
) -> Path:
    """Write the page of one atlas, or of two side by side; by default `report.html` in the folder of the first.

    `findings` holds one list for each atlas, such as `patterns.find_patterns(atlas)`; none are shown without it, and no
    section about how alike two maps are without a `comparison`. An atlas that still grows shows no findings.
    """
    target = Path(path) if path is not None else atlases[0].path / "report.html"
    write_bytes(target, render(atlases, findings, comparison=comparison).encode())
    return target


def render(
    atlases: Sequence[Atlas],
    findings: Sequence[Sequence[Finding]] = (),
    downloads: Sequence[Sequence[str]] = (),
    comparison: Comparison | None = None,
    live: str = "",
) -> str:
    """The page as text. `downloads` names the files of each atlas that a server offers beside it, and `live` the state
    of the atlases that it shows; only then does the page ask the server for news."""
    if not 1 <= len(atlases) <= MOST:
        raise UsageError(f"A page shows one atlas, or two side by side; {len(atlases)} were given.")
    names = " and ".join(dict.fromkeys(atlas.run.model.name for atlas in atlases))
    parts = {
        "head": _head(f"{names} · headatlas", policy(live=bool(live))),
        "script": script(),
        "data": as_json({"live": live, **describe_page(atlases, findings, downloads, comparison)}),
    }
    return _filled("page.html", parts)


def render_waiting(text: str, live: str) -> str:
    """The page of a server that has nothing to show yet."""
    parts = {
        "head": _head("headatlas", policy(waiting_script(), live=True)),
        "script": waiting_script(),
        "text": html.escape(text),
        "data": as_json({"live": live}),
    }
    return _filled("waiting.html", parts)


def _head(title: str, allowed: str) -> str:
    return _filled("head.html", {"policy": allowed, "title": html.escape(title), "style": style()})


def _filled(template: str, parts: Mapping[str, str]) -> str:
    # Split once: what is put in is never looked through for further marks.
    pieces = _asset(template).split("%%")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def policy(text: str | None = None, live: bool = False) -> str:
    """The Content-Security-Policy: this script and this style, images made by the page, for a served page news of its
    server, and nothing else."""
    news = "connect-src 'self'; " if live else ""
    return (
        f"default-src 'none'; script-src '{_hash(text or script())}'; style-src '{_hash(style())}'; {news}"
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def policy_of(page: str) -> str:
    """The policy that a page states, for the header of a server."""
    return page.split('Content-Security-Policy" content="', 1)[1].split('"', 1)[0]


@cache
def style() -> str:
    return "\n" + "\n".join(_asset(f"{name}.css") for name in STYLES)


@cache
def script() -> str:
    return _closed("\n".join(_asset(f"{name}.js") for name in SCRIPTS))


@cache
def waiting_script() -> str:
    return _closed(f'{_asset("live.js")}\nfollowAtlas(JSON.parse(document.getElementById("data").textContent).live);')


def _closed(body: str) -> str:
    return f'\n(() => {{\n"use strict";\n{body}\n}})();\n'


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (files("headatlas.views.page") / "assets" / name).read_text(encoding="utf-8")
