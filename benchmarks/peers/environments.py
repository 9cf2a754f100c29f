"""An environment for each peer, under build/peers. torch comes first and alone: asked for by another package, pip could
take a CUDA build of several gigabytes."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path("build/peers")
CONSTRAINTS = Path("constraints.txt")
SHARED = ("torch", "transformers", "numpy")  # in the versions of headatlas, so that only the library differs
DONE = "installed"


@dataclass(frozen=True)
class Peer:
    """A library: its requirement (none where headatlas' environment has all), the module that measures with it, at how
    many last positions it computes logits (at all of them with 0, as transformers does unless it is told), and settings
    of the allocator."""

    name: str
    module: str
    requirement: str | None = None
    logits: int = 0
    allocator: tuple[tuple[str, str], ...] = ()


LIBRARIES = (
    Peer("plain loop", "benchmarks.peers.plain"),
    Peer("TransformerLens", "benchmarks.peers.lens", "transformer-lens==4.3.0"),
    Peer("nnsight", "benchmarks.peers.insight", "nnsight==0.8.1"),
    Peer("pyvene", "benchmarks.peers.vene", "pyvene==0.1.8"),
)
# What `headatlas.reuse_freed_memory` sets, for a process that cannot call it.
REUSE = (("MALLOC_MMAP_THRESHOLD_", str(1 << 30)), ("MALLOC_TRIM_THRESHOLD_", str(1 << 30)), ("MALLOC_ARENA_MAX", "1"))
# Their documentations read the last position of whole logits, and say nothing of the allocator. Tuned, an option of
# transformers that none of them shows leaves out the other positions, and the allocator is set as for headatlas.
DOCUMENTED = tuple(replace(peer, name=f"{peer.name}, as documented") for peer in LIBRARIES)
TUNED = tuple(replace(peer, name=f"{peer.name}, tuned", logits=1, allocator=REUSE) for peer in LIBRARIES)
PEERS = (*DOCUMENTED, *TUNED)
OURS = Peer("headatlas", "benchmarks.peers.ours")


def python_of(peer: Peer) -> Path:
    """The interpreter of a peer's environment, made first where it is missing. Raises OSError with what pip said."""
    if peer.requirement is None:
        return Path(sys.executable)
    folder = FOLDER / peer.requirement
    python = folder / "bin" / "python"
    if not (folder / DONE).exists():
        print(f"Making an environment for {peer.requirement} in {folder}", flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pins = pinned(CONSTRAINTS.read_text())
        constraint = folder / "constraints.txt"
        constraint.write_text("\n".join(pins) + "\n")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, pins[0]])
        _run([*pip, peer.requirement, "--constraint", str(constraint)])
        (folder / DONE).touch()
    return python


def pinned(constraints: str) -> list[str]:
    """The lines of the packages that all environments share, torch first."""
    return [
        line
        for name in SHARED
        for line in constraints.splitlines()
        if re.fullmatch(rf"{name}==\S+", line)
    ]  # fmt: skip


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise OSError((result.stderr.strip().splitlines() or ["nothing was said"])[-1])
