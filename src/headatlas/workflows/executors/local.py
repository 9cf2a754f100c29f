"""Workers on this machine: processes that share its threads and its GPUs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from headatlas.errors import UsageError
from headatlas.run.store import LOG
from headatlas.wording import count
from headatlas.workflows.order import WorkOrder

VISIBLE = "CUDA_VISIBLE_DEVICES"
THREADS = "OMP_NUM_THREADS"
GRACE = 5.0  # seconds to end before a worker is killed


class Local:
    """`--workers N`: the driver and N - 1 processes beside it."""

    def __init__(self, workers: int = 1, threads: int | None = None):
        self.workers, self.threads = workers, threads
        self._helpers: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}
        self._before: tuple[int, str | None] | None = None
        self._groups: list[list[str]] = []

    def enter(self) -> int:
        import torch

        self._before = torch.get_num_threads(), os.environ.get(VISIBLE)
        if self.workers == 1 and self.threads is None:
            return torch.get_num_threads()
        self.threads = self.threads or threads_each(self.workers)
        torch.set_num_threads(self.threads)
        self._groups = device_groups(visible_devices(), self.workers)
        if self._groups:
            os.environ[VISIBLE] = ",".join(self._groups[0])
        return self.threads

    def start(self, out: Path, order: WorkOrder) -> None:
        logs = out / "work" / LOG
        logs.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "headatlas", "work", str(out), "--parent", str(os.getpid())]
        for number in range(2, self.workers + 1):
            environment = {**os.environ, THREADS: str(order.threads)}
            if self._groups:
                environment[VISIBLE] = ",".join(self._groups[number - 1])
            log = logs / f"worker-{number}.txt"
            with open(log, "wb") as file:
                helper = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment,
                    start_new_session=True,  # Ctrl-C is the driver's business
                )  # fmt: skip
            self._helpers[f"Worker {number}"] = helper, log

    def lost(self) -> list[str]:
        said = []
        for name, (helper, log) in list(self._helpers.items()):
            code = helper.poll()
            if code is not None:
                del self._helpers[name]
            if code:
                left = f"Going on with {count(1 + len(self._helpers), 'worker')}."
                said.append(f"{name} (process {helper.pid}) {_why(code, log)} {left}")
        return said

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that it has started and not lost."""
        return [helper.pid for helper, _ in self._helpers.values()]

    def stop(self) -> None:
        for helper, _ in self._helpers.values():
            helper.terminate()
        for helper, _ in self._helpers.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                helper.wait(GRACE)
            helper.kill()
            helper.wait()
        self._helpers = {}
        if self._before is not None:
            self._restore(*self._before)

    def _restore(self, threads: int, visible: str | None) -> None:
        import torch

        torch.set_num_threads(threads)
        if visible is not None:
            os.environ[VISIBLE] = visible
        elif self._groups:
            os.environ.pop(VISIBLE, None)


def threads_each(workers: int) -> int:
    """Threads per worker on this machine: what OMP_NUM_THREADS says, or its processors divided."""
    if os.environ.get(THREADS, "").isdecimal():
        return max(1, int(os.environ[THREADS]))
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable // workers)


def visible_devices() -> list[str]:
    """The GPUs that this process may use."""
    import torch

    if not torch.cuda.device_count():
        return []
    if VISIBLE in os.environ:
        names = [name.strip() for name in os.environ[VISIBLE].split(",") if name.strip()]
        return list(takewhile(lambda name: not name.startswith("-"), names))  # CUDA ends at a negative one
    return [str(number) for number in range(torch.cuda.device_count())]


def device_groups(devices: Sequence[str], workers: int) -> list[list[str]]:
    """The GPUs of each worker, as many for each; none without GPUs.

    >>> device_groups(["0", "1", "2", "3"], 2)
    [['0', '1'], ['2', '3']]
    """
    if not devices or workers == 1:
        return []
    each = len(devices) // workers
    if not each:
        raise UsageError(
            f"`workers` {workers} were asked for, and this machine has {count(len(devices), 'GPU')}: each worker needs "
            "one. Ask for fewer, or set CUDA_VISIBLE_DEVICES to nothing to use the processor."
        )
    return [list(devices[number * each : (number + 1) * each]) for number in range(workers)]


def _why(code: int, log: Path) -> str:
    if code == -signal.SIGKILL:
        return "was killed, most likely because memory ran out."
    if code < 0:
        return f"was ended by signal {-code}."
    try:
        lines = log.read_text(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    return f"stopped: {lines[-1].removeprefix('Error: ') if lines else f'exit code {code}.'}"
