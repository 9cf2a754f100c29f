"""Pages of the site that are files of the repository's root, with their links as the site needs them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/tour.ipynb": "tour/tour.md",  # made by nbconvert, see the Makefile
}


def on_files(files: Files, config: Any) -> Files:
    for source, page in PAGES.items():
        if source.endswith(".md"):
            files.append(File.generated(config, page, content=_links((ROOT / source).read_text())))
    return files


def _links(text: str) -> str:
    """Links to files of the root lead to their pages; what lies in docs/ is next to them."""

    def page(match: re.Match[str]) -> str:
        path, anchor = match[1], match[2] or ""
        return f"]({PAGES.get(path, path.removeprefix('docs/'))}{anchor})"

    return re.sub(r"\]\(([\w./-]+)(#[\w-]+)?\)", page, text)
