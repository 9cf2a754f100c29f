"""Units of work, addressed by a hash of their inputs: done once, kept, and found again after a crash."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from headatlas.errors import HeadAtlasError
from headatlas.files import write_bytes
from headatlas.progress import Advance, CellsCourse, Reporter
from headatlas.run.crew import Crew

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
    examples: Callable[[], str] = str  # its task and examples in words, for errors; empty where it has none
    group: str = ""  # cells of one group are computed together, so one worker takes all of them

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the numbers depend on."""
        return {"kind": list(self.kind), **self.inputs}

    @cached_property
    def key(self) -> str:
        text = json.dumps(self.identity, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def result(self) -> Result:
        """Compute it, and refuse what is not finite."""
        result = self.compute()
        for name, array in result.items():
            if not np.isfinite(array).all():
                raise HeadAtlasError(
                    f"A result is not finite ({name} of {self.kind.name}): the model gave NaN or infinite "
                    'log-probabilities. Check its weights, or load it with `dtype` "float32".'
                )
        return result

    def failure(self, error: Exception) -> str:
        """Why it failed, in one sentence that names its examples."""
        reason = str(error)
        if not isinstance(error, HeadAtlasError):
            reason = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        examples = self.examples()
        sentence = f"{self.kind.name}{f' of {examples}' if examples else ''}: {' '.join(reason.split())}"
        return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


class CellsFailed(HeadAtlasError):
    """Cells failed for reasons of their own, which are `failures`. All others of the step are done."""

    SHOWN = 3

    def __init__(self, title: str, failures: Sequence[str], cells: int):
        self.failures = tuple(failures)
        more = len(failures) - self.SHOWN
        listed = [*failures[: self.SHOWN], *([f"and {more} more."] if more > 0 else [])]
        super().__init__(
            f"{len(failures)} of {cells} cells of {title} failed; the others are done. {' '.join(listed)} Run the same "
            "command again to compute only what is missing."
        )


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
    damaged: set[str] = field(default_factory=set)
    crew: Crew = field(default_factory=Crew)
    lock: threading.Lock = field(default_factory=threading.Lock)  # of what lanes count together

    def run(self, title: str, cells: Sequence[Cell]) -> list[Result]:
        """The results of the cells, in order. One that fails does not keep the others from being computed."""
        once = {cell.key: cell for cell in cells}
        results = {key: result for key, cell in once.items() if (result := self._read(cell)) is not None}
        missing = [cell for key, cell in once.items() if key not in results]
        self.reused |= results.keys() - self.computed
        if missing:
            self.publish()
        failures: dict[str, Exception] = {}
        with self.reporter.bar(title, len(missing), sum(cell.tokens for cell in missing)) as advance:

            def compute(unit: Sequence[Cell]) -> None:
                course = CellsCourse(self.counted(advance), sum(cell.tokens for cell in unit))
                for cell in unit:
                    try:
                        with course.followed():
                            results[cell.key] = cell.result()
                    except Exception as error:
                        failures[cell.key] = error
                        continue
                    self._save(cell.key, encode(cell, results[cell.key]))
                    with self.lock:
                        self.computed.add(cell.key)
                    course(cell.tokens)

            self.crew.share(largest_first(missing), compute, of=len(in_groups(cells)))
        if failures:
            listed = [cell.failure(failures[key]) for key, cell in once.items() if key in failures]
            raise CellsFailed(title, listed, len(cells)) from next(iter(failures.values()))
        return [results[cell.key] for cell in cells]

    def counted(self, advance: Advance) -> Advance:
        """The same for all lanes, one at a time."""

        def one_at_a_time(tokens: float, cells: int = 1) -> None:
            with self.lock:
                advance(tokens, cells)

        return one_at_a_time

    def publish(self) -> None:
        """Call `before`, once."""
        before, self.before = self.before, None
        if before is not None:
            before()

    def has(self, cell: Cell) -> bool:
        """Whether a result of the cell is there."""
        return self._load(cell.key) is not None

    def path(self, cell: Cell) -> Path:
        return cell_path(self.folder, cell.key)

    def _read(self, cell: Cell) -> Result | None:
        """A cached result; one that cannot be read or does not match its checksum is computed again."""
        content = self._load(cell.key)
        if content is None:
            return None
        result = decode(content)
        if result is None and cell.key not in self.damaged:
            self.damaged.add(cell.key)
            self.reporter.say(f"{cell_path(self.folder, cell.key).name} is damaged and will be computed again.")
        return result

    def _load(self, key: str) -> bytes | None:
        return read_cell(self.folder, key)

    def _save(self, key: str, content: bytes) -> None:
        write_bytes(cell_path(self.folder, key), content)


def in_groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cells that are computed together, and so by one thread of one worker."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group or cell.key, []).append(cell)
    return list(groups.values())


def largest_first(cells: Iterable[Cell]) -> list[list[Cell]]:
    """In groups, so that nobody waits long for the last one."""
    return sorted(in_groups(cells), key=lambda group: -sum(cell.tokens for cell in group))


def cell_path(folder: Path, key: str) -> Path:
    return folder / f"{key}.safetensors"


def read_cell(folder: Path, key: str) -> bytes | None:
    """The file of a cell; None where there is none."""
    path = cell_path(folder, key)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except PermissionError:
        raise HeadAtlasError(f"Cannot read {path}: permission denied. Make it readable or remove it.") from None
    except OSError:
        return b""  # damaged


def encode(cell: Cell, result: Result) -> bytes:
    """The file of a cell: its arrays, their checksum, and all that they depend on."""
    metadata = {"checksum": _checksum(result), "inputs": json.dumps(cell.identity, sort_keys=True)}
    # safetensors writes a strided view as if it were not one.
    contiguous = {name: np.ascontiguousarray(array) for name, array in result.items()}
    content = save(contiguous, metadata=metadata)
    # safetensors writes metadata in any order; sorted, the same result has the same bytes.
    end, header = _header(content)
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[end:]


def decode(content: bytes) -> Result | None:
    """The arrays of a cell's file; None where it is damaged."""
    try:
        result = load(content)
        return result if _header(content)[1]["__metadata__"]["checksum"] == _checksum(result) else None
    except (SafetensorError, ValueError, KeyError, TypeError):
        return None


def _header(content: bytes) -> tuple[int, dict[str, Any]]:
    """Where the header of a safetensors file ends, and what it says."""
    end = 8 + int.from_bytes(content[:8], "little")
    return end, json.loads(content[8:end])


def _checksum(result: Result) -> str:
    digest = hashlib.sha256()
    for name in sorted(result):
        array = np.ascontiguousarray(result[name])
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()
