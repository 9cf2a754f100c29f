"""Text, numbers and tables that stay what they are in Markdown, whatever a task is called."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any


def plain(text: object) -> str:
    """Text that Markdown shows as it is: no markup, no HTML, no line breaks, no end of a table cell."""
    line = re.sub(r"\s+", " ", str(text)).strip()
    line = re.sub(r"[\\`*_\[\]|~$]", r"\\\g<0>", line)
    line = re.sub(r"<(?=[A-Za-z/!?])", r"\\<", line)
    return re.sub(r"&(?=#?\w+;)", r"\\&", line)


def number(value: float, form: str = "{:.4g}") -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None or math.isnan(value) else form.format(value)


def interval(low: float, high: float, digits: int = 3, sign: bool = False) -> str:
    form = f"{{:{'+' if sign else ''}.{digits}f}}"
    return "–" if math.isnan(low) or math.isnan(high) else f"{form.format(low)} to {form.format(high)}"


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; cells are written as they are, so names must have gone through `plain`."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
