"""What a checkpoint holds, read from its files without loading them; whether it fits into memory."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

import torch

from headatlas.errors import HeadAtlasError
from headatlas.model.free_memory import free_memory
from headatlas.wording import gigabytes

# What safetensors calls the types of numbers, and their bytes.
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
FLOATS = ("F64", "F32", "F16", "BF16")
INDEX, SINGLE = "model.safetensors.index.json", "model.safetensors"


def check_room(folder: Path, name: str, dtype: torch.dtype | str, device: torch.device) -> None:
    """Refuse weights that cannot fit on a device, before they are loaded. Files of other kinds are not looked into."""
    free, needed = free_memory(device), weight_bytes(folder, dtype)
    if free is None or needed is None or needed <= free:
        return
    half = weight_bytes(folder, torch.bfloat16) or 0
    advice = f'`dtype` "bfloat16" ({gigabytes(half)}), ' if half < needed else ""
    said = str(dtype).removeprefix("torch.") if isinstance(dtype, torch.dtype) else "the dtype of its checkpoint"
    raise HeadAtlasError(
        f"The weights of {name} take {gigabytes(needed)} in {said}, and {gigabytes(free)} are free on {device}. Use "
        f'{advice}`quantize` 8 or 4, or `device_map` "auto", which leaves in main memory or on disk what does not fit.'
    )


def weight_bytes(folder: Path, dtype: torch.dtype | str) -> int | None:
    """Bytes that the weights of a folder take when they are loaded in a dtype ("auto": as they are stored); None where
    there are no safetensors. Shards count together."""
    files = _files(folder)
    if not files:
        return None
    item = dtype.itemsize if isinstance(dtype, torch.dtype) else None
    try:
        return sum(
            prod(entry["shape"]) * (item if item and entry["dtype"] in FLOATS else BYTES.get(entry["dtype"], 1))
            for file in files
            for name, entry in _header(file).items()
            if name != "__metadata__"
        )
    except (OSError, ValueError, KeyError, TypeError):  # damaged: the reader says what is wrong with it
        return None


def _files(folder: Path) -> list[Path]:
    if (folder / INDEX).is_file():
        try:
            entries = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
            return [folder / name for name in sorted(set(entries.values()))]
        except (OSError, ValueError, KeyError, AttributeError):
            return []
    return [folder / SINGLE] if (folder / SINGLE).is_file() else []


def _header(file: Path) -> dict[str, Any]:
    """Names, shapes and types of the tensors: a number of bytes, then as much JSON."""
    with file.open("rb") as opened:
        header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
    if not isinstance(header, dict):
        raise ValueError("not a header")
    return header
