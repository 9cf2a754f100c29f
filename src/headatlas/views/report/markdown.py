"""Text and tables that stay what they are in Markdown, whatever a task is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


def plain(text: object) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no line breaks, no end of a table cell."""
    line = re.sub(r"\s+", " ", str(text)).strip()
    line = re.sub(r"[\\`*_\[\]|~$]", r"\\\g<0>", line)
    line = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", line)
    return re.sub(r"&(?=#?\w+;)", r"\\&", line)


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; cells are written as they are, so names must have gone through `plain`."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
