"""What workers share: finished cells, who computes which, what failed, and who is there. A folder is all it takes.

A claim says that a worker computes a cell (or cells that are computed together). It is a file that only one process can
create, with the name of the worker in it. Claims save work and nothing else: two workers that compute the same cell
write the same bytes, and a file appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import time
from pathlib import Path
from typing import Any, Protocol

from headatlas.errors import HeadAtlasError
from headatlas.files import make_folder, remove, remove_in_use, unwritable, write_bytes, write_first
from headatlas.run.cells import cell_path, read_cell
from headatlas.run.worker import Worker

SILENCE = 60.0  # seconds without a heartbeat after which a worker counts as gone whose death is not seen
CLAIMS, FAILED, WORKERS, STEPS = "claims", "failed", "workers", "steps"
AGREED, ORDER, TESTING, PLAN = "environment.json", "order.json", "tests.json", "plan.json"
TESTED = "tested.json"  # which maps the evidence in the folder is about, while others are made
LOG = "log"  # what workers of this machine print
NUMBERS = itertools.count()  # of the stores of this process, which may write the same file at the same time
OURS = {CLAIMS, FAILED, WORKERS, STEPS, AGREED, ORDER, TESTING, PLAN, TESTED, LOG}


class Store(Protocol):
    """What a worker needs of the others, wherever they are. Everything that crosses is bytes or plain data."""

    def read(self, key: str) -> bytes | None:
        """The file of a finished cell."""

    def write(self, key: str, content: bytes) -> None: ...

    def take(self, claim: str, worker: str) -> bool:
        """Whether the claim is this worker's now."""

    def release(self, claim: str) -> None: ...

    def fail(self, key: str, worker: str, why: str) -> None: ...

    def failure(self, key: str) -> str | None:
        """Why a cell failed in this run."""

    def tell(self, record: dict[str, Any]) -> None:
        """A heartbeat: what a worker is and does."""

    def begin(self, number: int, step: dict[str, Any]) -> None:
        """Which cells a step of the run has."""

    def agree(self, environment: dict[str, str]) -> dict[str, str] | None:
        """What all workers compute with: the first one says it. None where the map is done."""


class Silences:
    """For how long something has not changed, on the clock of whoever looks: clocks that differ do not matter."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[object, float]] = {}

    def of(self, name: str, value: object) -> float:
        now = time.monotonic()
        if name not in self._seen or self._seen[name][0] != value:
            self._seen[name] = value, now
        return now - self._seen[name][1]


class FolderStore:
    """The store of an atlas folder: results in `cells`, everything else in `work`, which goes when the map is done."""

    def __init__(self, out: Path):
        self.cells, self.work = out / "cells", out / "work"
        self._silences = Silences()
        self._tag = f".{Worker().name}-{next(NUMBERS)}"

    def read(self, key: str) -> bytes | None:
        return read_cell(self.cells, key)

    def write(self, key: str, content: bytes) -> None:
        write_bytes(cell_path(self.cells, key), content, self._tag)

    def take(self, claim: str, worker: str) -> bool:
        path = self.work / CLAIMS / claim
        if write_first(path, worker.encode(), self._tag):
            return True
        if not self._is_stale(path, worker):
            return False
        remove(path)
        return write_first(path, worker.encode(), self._tag)

    def _is_stale(self, path: Path, worker: str) -> bool:
        """Whether nobody is behind a claim any more."""
        holder = _text(path)
        if holder is None:
            return False  # it has just been released
        # One without a name is what a machine that went down may leave.
        return not holder or holder == worker or self.is_gone(holder)

    def is_gone(self, name: str) -> bool:
        worker = self.worker(name)
        if worker is None or worker.is_gone:
            return True
        return self._silences.of(name, worker.beat) > SILENCE  # it may be stopped, or its machine may be down

    def release(self, claim: str) -> None:
        with contextlib.suppress(OSError):
            (self.work / CLAIMS / claim).unlink(missing_ok=True)
            if not (self.work / AGREED).exists():  # the map was done meanwhile, and nothing is to be left behind
                (self.work / CLAIMS).rmdir()
                self.work.rmdir()

    def fail(self, key: str, worker: str, why: str) -> None:
        self._write(FAILED, key, {"worker": worker, "why": why})

    def failure(self, key: str) -> str | None:
        content = read_json(self.work / FAILED / f"{key}.json")
        return content["why"] if content else None

    def tell(self, record: dict[str, Any]) -> None:
        comes = not record["beat"] and not record["ended"]
        if comes or self.work.is_dir():  # else the map is done, and nothing is to be left behind
            self._write(WORKERS, record["name"], record)

    def begin(self, number: int, step: dict[str, Any]) -> None:
        if self.work.is_dir() and not (self.work / STEPS / f"{number:04d}.json").exists():
            with contextlib.suppress(HeadAtlasError):  # it is only for `headatlas status`
                self._write(STEPS, f"{number:04d}", step)

    def agree(self, environment: dict[str, str]) -> dict[str, str] | None:
        if self.work.is_dir():
            write_first(self.work / AGREED, json.dumps(environment, indent=2).encode(), self._tag)
        agreed: dict[str, str] | None = read_json(self.work / AGREED)
        return agreed

    def worker(self, name: str) -> Worker | None:
        content = read_json(self.work / WORKERS / f"{name}.json")
        return Worker.of(content) if content else None

    def workers(self) -> list[Worker]:
        """Everybody who took part in this run, first come first."""
        found = [read_json(path) for path in self._files(WORKERS)]
        return sorted((Worker.of(content) for content in found if content), key=lambda worker: worker.started)

    def claims(self) -> dict[str, str]:
        """The workers that hold claims, by claim."""
        return {path.name: _text(path) or "" for path in self._files(CLAIMS)}

    def failures(self) -> dict[str, str]:
        found = {path.stem: read_json(path) for path in self._files(FAILED)}
        return {key: content["why"] for key, content in found.items() if content}

    def steps(self) -> list[dict[str, Any]]:
        found = [read_json(path) for path in sorted(self._files(STEPS))]
        return [content for content in found if content]

    def finished(self) -> frozenset[str]:
        """The keys of all cells in the folder."""
        return frozenset(path.stem for path in self.cells.glob("*.safetensors"))

    def lead(self, keep_environment: bool = False) -> None:
        """Begin a run: forget what earlier runs failed at and planned, and what dead workers left behind."""
        # File by file, because those who still work may be writing there.
        for path in (*self._files(FAILED), *self._files(STEPS), self.work / PLAN):
            remove(path)
        if not keep_environment:
            remove(self.work / AGREED)
        self.tidy()
        make_folder(self.work)

    def tidy(self) -> None:
        """Remove the claims, failures and records of workers that are known to be gone."""
        self.tidy_claims()
        for path in self._files(FAILED):
            if (content := read_json(path)) and self.is_gone(content["worker"]):
                path.unlink(missing_ok=True)
        for worker in self.workers():
            if worker.is_gone:
                remove(self.work / WORKERS / f"{worker.name}.json")

    def tidy_claims(self) -> None:
        for path in self._files(CLAIMS):
            if (holder := _text(path)) and self.is_gone(holder):
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """The map is done: only its results stay."""
        for temporary in self.cells.glob(".*.tmp"):
            temporary.unlink(missing_ok=True)
        remove_in_use(self.work)

    def _files(self, name: str) -> list[Path]:
        """Files of a kind, without those that are being written."""
        try:
            return [path for path in (self.work / name).iterdir() if not path.name.startswith(".")]
        except OSError:
            return []

    def _write(self, kind: str, name: str, content: dict[str, Any]) -> None:
        """Not synced to the disk as results are: whoever dies with the machine has no heartbeat anyway."""
        path = self.work / kind / f"{name}.json"
        temporary = path.with_name(f".{path.name}{self._tag}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(content))
            os.replace(temporary, path)
        except OSError as error:
            raise unwritable(path, error) from None


def read_json(path: Path) -> Any:
    """What a file holds; None where there is none, or where it is being written."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None
