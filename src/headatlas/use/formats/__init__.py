"""Files for other programs, by format. A new format is one file with a function `write`, and one line here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headatlas.registry import Registry
from headatlas.use.formats.request import Request

# Writes an atlas into an empty folder.
Writer = Callable[[Request, Path], None]

FORMATS: Registry[Writer] = Registry(
    "format",
    {
        "csv": "headatlas.use.formats.tables:write_csv",
        "json": "headatlas.use.formats.tables:write_json",
        "safetensors": "headatlas.use.formats.vectors:write",
        "duo": "headatlas.use.formats.duo:write",
        "retrieval": "headatlas.use.formats.retrieval:write",
        "hub": "headatlas.use.formats.hub:write",
    },
)
