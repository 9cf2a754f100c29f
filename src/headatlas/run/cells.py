"""Units of work, addressed by a hash of their inputs: done once, kept, and found again after a crash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from headatlas.errors import HeadAtlasError
from headatlas.files import write_bytes
from headatlas.progress import Reporter

Result = Mapping[str, NDArray[Any]]


class CellKind(NamedTuple):
    """What a cell computes. Raise the version when the same inputs would give other numbers: cells of this kind are
    then computed again, and all others are reused."""

    name: str
    version: int = 1


@dataclass(frozen=True)
class Cell:
    """What is computed (a kind, and inputs that JSON can hold), how, and about how many tokens it runs, in how many
    forwards."""

    kind: CellKind
    inputs: Mapping[str, Any]
    compute: Callable[[], Result]
    tokens: int
    forwards: int = 1

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the numbers depend on."""
        return {"kind": list(self.kind), **self.inputs}

    @cached_property
    def key(self) -> str:
        text = json.dumps(self.identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass
class Runner:
    """Runs the cells that are not in the folder yet. `computed` and `reused` hold the cells of this run, each counted
    once: those it computed, and those that an earlier run had left. `before` is called once, before the next cell is
    computed: nobody waits for what an earlier run has left."""

    folder: Path
    reporter: Reporter = field(default_factory=Reporter)
    computed: set[str] = field(default_factory=set)
    reused: set[str] = field(default_factory=set)
    before: Callable[[], None] | None = None

    def run(self, title: str, cells: Sequence[Cell]) -> list[Result]:
        """The results of the cells, in order."""
        cached = [self._read(cell) for cell in cells]
        missing = [cell for cell, result in zip(cells, cached, strict=True) if result is None]
        self.reused |= {cell.key for cell in cells} - {cell.key for cell in missing} - self.computed
        if missing and self.before is not None:
            self.before()
            self.before = None
        with self.reporter.bar(title, len(missing), sum(cell.tokens for cell in missing)) as advance:
            results: list[Result] = []
            for cell, result in zip(cells, cached, strict=True):
                if result is None:
                    result = cell.compute()
                    self._write(cell, result)
                    self.computed.add(cell.key)
                    advance(cell.tokens)
                results.append(result)
        return results

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.safetensors"

    def _read(self, cell: Cell) -> Result | None:
        """A cached result; one that cannot be read or does not match its checksum is computed again."""
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
                    f"A result is not finite ({name} of {cell.kind.name}): the model gave NaN or infinite "
                    'log-probabilities. Check its weights, or load it with `dtype` "float32".'
                )
        metadata = {"checksum": _checksum(result), "inputs": json.dumps(cell.identity, sort_keys=True)}
        # safetensors writes a strided view as if it were not one.
        contiguous = {name: np.ascontiguousarray(array) for name, array in result.items()}
        write_bytes(self.path(cell), save(contiguous, metadata=metadata))


def _checksum(result: Result) -> str:
    digest = hashlib.sha256()
    for name in sorted(result):
        array = np.ascontiguousarray(result[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()
