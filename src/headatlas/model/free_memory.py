"""How much memory is free now, on the processor's side and on a device, and how much this process holds."""

from __future__ import annotations

import re
from pathlib import Path

import torch

LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container
STATISTICS = Path("/sys/fs/cgroup/memory.stat")


def free_memory(device: torch.device) -> int | None:
    """Bytes that can still be taken on a device; None where nobody says. What torch has reserved there and does not use
    is free too."""
    if device.type == "cuda" and (device.index or 0) < torch.cuda.device_count():
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + unused
    return _main_memory() if device.type == "cpu" else None


def resident_memory() -> int | None:
    """Bytes of main memory that this process holds; None where nobody says."""
    return _number(Path("/proc/self/status"), "VmRSS")


def _main_memory() -> int | None:
    """What the system calls available, within the limit of a container."""
    free = [size for size in (_available(), _within_limit()) if size is not None]
    return min(free, default=None)


def _available() -> int | None:
    return _number(Path("/proc/meminfo"), "MemAvailable")


def _number(path: Path, name: str) -> int | None:
    """Bytes, from a file in which the system says them."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB$", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _within_limit() -> int | None:
    """Files that were read count as used, but give way."""
    try:
        limit, used = int(LIMIT.read_text()), int(USED.read_text())
        files = re.search(r"^inactive_file (\d+)$", STATISTICS.read_text(), re.MULTILINE)
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return None
    return max(0, limit - used + (int(files[1]) if files else 0))
