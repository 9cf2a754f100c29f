"""Who works on an atlas: a process with a name, what it is doing, and a heartbeat that others can see."""

from __future__ import annotations

import hashlib
import os
import platform
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

BEAT = 2.0  # seconds between two heartbeats


@cache
def where() -> str:
    """The machine and its process numbers: two workers with the same answer can see whether the other one lives.

    Containers may share the name of a host and still number their processes differently.
    """
    parts = [socket.gethostname()]
    for read in (_boot, lambda: os.readlink("/proc/self/ns/pid")):
        try:
            parts.append(read())
        except OSError:
            parts.append("")
    return " ".join(parts)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _digest(text: str) -> str:
    """Tells apart processes with the same number in containers that share the name of a host."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def birth(pid: int) -> str | None:
    """When a process of this machine was started, in a unit of the system's; "" where that cannot be said, None where
    there is no such process. A process that was killed and not yet waited for counts as gone."""
    if platform.system() == "Linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return ""


@dataclass
class Worker:
    """One process that computes cells. Times are on its own clock and only to be shown: clocks may differ."""

    name: str = field(default_factory=lambda: f"{socket.gethostname()}-{os.getpid()}-{_digest(where())}")
    host: str = field(default_factory=socket.gethostname)
    where: str = field(default_factory=where)
    pid: int = field(default_factory=os.getpid)
    born: str = field(default_factory=lambda: birth(os.getpid()) or "")
    started: float = field(default_factory=time.time)
    beat: int = 0
    stage: str = ""
    step: str = ""
    computing: list[str] = field(default_factory=list)  # keys of cells
    cells: int = 0
    tokens: int = 0
    busy: float = 0.0  # seconds in which it was computing cells
    ended: bool = False
    since: float = 0.0  # of its own monotonic clock: when `busy` was last counted

    def begin(self, key: str) -> None:
        """It begins to compute a cell."""
        self._count()
        self.computing = [*self.computing, key]

    def end(self, key: str, tokens: int | None) -> None:
        """It has computed a cell, or failed to."""
        self._count()
        self.computing = [other for other in self.computing if other != key]
        if tokens is not None:
            self.cells += 1
            self.tokens += tokens

    def _count(self) -> None:
        now = time.monotonic()
        self.busy += now - self.since if self.computing else 0.0
        self.since = now

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Worker:
        """From its record. One that another version wrote may lack something or hold more; what it does not say of
        its process is unknown, and not that of the reader."""
        known = {field.name for field in fields(cls)}
        unknown: dict[str, Any] = {"name": "", "host": "", "where": "", "pid": 0, "born": "", "started": 0.0}
        return cls(**unknown | {name: value for name, value in record.items() if name in known})

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this machine, so that its death can be seen."""
        return self.where == where()

    @property
    def is_gone(self) -> bool:
        """Whether it has ended, or is known to be dead. Of a worker that is stopped or on another machine only its
        silence tells."""
        return self.ended or (self.is_here and birth(self.pid) != self.born)


class Heartbeat:
    """Tells others every two seconds that this worker lives. With `parent`, the process ends when that one does: a
    driver that was killed leaves no workers behind."""

    def __init__(self, worker: Worker, tell: Callable[[dict[str, Any]], None], parent: int | None = None):
        self.worker, self.tell, self.parent = worker, tell, parent
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Heartbeat:
        self.tell(self.worker.record())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.worker.ended = True
        self._say()

    def _beat(self) -> None:
        while not self._over.wait(BEAT):
            if self.parent is not None and os.getppid() != self.parent:
                os._exit(1)
            self.worker.beat += 1
            self._say()

    def _say(self) -> None:
        """A beat that is lost, as on a full disk, is no reason to stop."""
        try:
            self.tell(self.worker.record())
        except Exception:
            return
