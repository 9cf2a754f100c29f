"""What all figures share: fonts, sizes, how names and numbers are printed, and how they are saved."""

from __future__ import annotations

import textwrap
import unicodedata
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib import colormaps, rcParams
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names

from headatlas.errors import UsageError
from headatlas.files import atomic
from headatlas.views.colours import QUIET, UNMEASURED
from headatlas.wording import fitting_digits, listed, signed

FORMATS = ("png", "svg", "pdf")
DPI = 200
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same picture gives the same bytes
SMALL, BASE, TITLE = 7.5, 9, 10  # points: numbers and remarks, axes, names of panels
# Fonts for letters that DejaVu lacks; the first of these that is installed is used.
FALLBACK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans",
)

DAMAGE = colormaps["RdBu"].with_extremes(bad=UNMEASURED)  # below zero, what is lost, is red


@cache
def settings() -> dict[Any, Any]:
    installed = set(get_font_names())
    return {
        "font.family": ["DejaVu Sans", *[name for name in FALLBACK_FONTS if name in installed][:1]],
        "font.size": BASE,
        "axes.titlesize": TITLE,
        "axes.labelsize": BASE,
        "xtick.labelsize": BASE,
        "ytick.labelsize": BASE,
        "legend.fontsize": BASE,
        "legend.frameon": False,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "text.parse_math": False,  # task names may hold dollar signs
        "svg.hashsalt": "headatlas",
        "svg.fonttype": "none",
    }


def say_unfinished(figure: Figure, pending: Sequence[str]) -> None:
    """Below a figure of an atlas that still grows: which methods were still to come when it was drawn."""
    note = f"Drawn while the map was being made, before {listed(pending)}."
    figure.text(0, 0, note, va="top", fontsize=SMALL, color=QUIET)


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write a figure to every path. It is laid out once, which takes as long as drawing; all files then look alike."""
    kinds = [path.suffix.removeprefix(".").lower() for path in paths]
    for path, kind in zip(paths, kinds, strict=True):
        if kind not in FORMATS:
            raise UsageError(
                f"Cannot write {path}: figures are written as {', '.join('.' + name for name in FORMATS)}."
            )
    engine, dpi = figure.get_layout_engine(), figure.dpi
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # an empty box shows it
        try:
            figure.dpi = DPI
            if engine is not None:
                engine.execute(figure)
            box = figure.get_tightbbox().padded(rcParams["savefig.pad_inches"])
            figure.set_layout_engine(None)
            for path, kind in zip(paths, kinds, strict=True):
                with atomic(path) as temporary:
                    figure.savefig(temporary, format=kind, dpi=DPI, bbox_inches=box, metadata=UNDATED.get(kind))
        finally:
            figure.dpi = dpi
            figure.set_layout_engine(engine)


def wrapped(name: str, inches: float, size: float = TITLE, lines: int = 2) -> str:
    """A name on as many lines as fit the width, and no more than `lines`; what is cut ends in dots."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in name)
    letters = inches * 72 / (0.56 * size) * len(name) / max(len(name) + wide, 1)
    width = max(int(letters), 4)
    rows = textwrap.wrap(name, width)
    if len(rows) > lines:
        rows[lines - 1 :] = [rows[lines - 1][: width - 1].rstrip() + "…"]
    return "\n".join(rows)


def short_signed(value: float) -> str:
    """A change for a cell of a figure, where space is short."""
    return signed(value, fitting_digits(value))
