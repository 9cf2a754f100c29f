"""Units of work, addressed by a hash of their inputs alone: done once, kept, and found again after a crash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from headatlas.errors import HeadAtlasError
from headatlas.files import write_bytes
from headatlas.progress import Reporter

Result = Mapping[str, NDArray[Any]]

VERSION = 1  # raise it when the same inputs would give other numbers


@dataclass(frozen=True)
class Cell:
    """What is computed (`inputs`, anything JSON can say), how, and about how many tokens it runs."""

    inputs: Mapping[str, Any]
    compute: Callable[[], Result]
    tokens: int

    @cached_property
    def key(self) -> str:
        text = json.dumps({"cells": VERSION, **self.inputs}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass
class Runner:
    """Runs cells that are not in the folder yet. `computed` and `reused` are the cells of this run, each counted once:
    those it made, and those that an earlier run had left."""

    folder: Path
    reporter: Reporter = field(default_factory=Reporter)
    computed: set[str] = field(default_factory=set)
    reused: set[str] = field(default_factory=set)

    def run(self, title: str, cells: Sequence[Cell]) -> list[Result]:
        """The results of the cells, in order."""
        found = [self._read(cell) for cell in cells]
        missing = [cell for cell, result in zip(cells, found, strict=True) if result is None]
        self.reused |= {cell.key for cell in cells} - {cell.key for cell in missing} - self.computed
        with self.reporter.bar(title, len(missing), sum(cell.tokens for cell in missing)) as advance:
            results: list[Result] = []
            for cell, kept in zip(cells, found, strict=True):
                if kept is None:
                    kept = cell.compute()
                    self._write(cell, kept)
                    self.computed.add(cell.key)
                    advance(cell.tokens)
                results.append(kept)
        return results

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.safetensors"

    def _read(self, cell: Cell) -> Result | None:
        """A kept result; one that cannot be read or does not match its checksum is computed again."""
        path = self.path(cell)
        if not path.exists():
            return None
        try:
            with safe_open(path, framework="np") as file:
                result = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
                if file.metadata()["checksum"] == _checksum(result):
                    return result
        except PermissionError:
            raise HeadAtlasError(f"Cannot read {path}: permission denied. Make it readable or remove it.") from None
        except (SafetensorError, OSError, KeyError, TypeError):
            pass
        self.reporter.say(f"{path.name} is damaged and will be computed again.")
        return None

    def _write(self, cell: Cell, result: Result) -> None:
        for name, array in result.items():
            if not np.isfinite(array).all():
                raise HeadAtlasError(
                    f"A result is not finite ({name} of {cell.inputs.get('what')}): the model gave NaN or infinite "
                    "log-probabilities. Check its weights, or use --dtype float32."
                )
        metadata = {"checksum": _checksum(result), "inputs": json.dumps(cell.inputs, sort_keys=True)}
        # safetensors writes a strided view as if it were not one.
        whole = {name: np.ascontiguousarray(array) for name, array in result.items()}
        write_bytes(self.path(cell), save(whole, metadata=metadata))


def _checksum(result: Result) -> str:
    digest = hashlib.sha256()
    for name in sorted(result):
        array = np.ascontiguousarray(result[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()
