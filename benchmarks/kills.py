"""A map by two workers whose processes are killed a hundred times: the same bytes, and no lock left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.clock import report
from headatlas.run.store import FolderStore
from headatlas.suites.suite import to_jsonl
from headatlas.workflows.map import TABLES
from tests import tiny

KILLS = 100
LONGEST = 12.0  # seconds from a start to a kill


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        tasks = base / "tasks.jsonl"
        tasks.write_text(to_jsonl(tiny.suite(per_task=120).examples))
        command = [sys.executable, "-m", "headatlas", "map", "--model", str(tiny.save(base / "model")), "--suite",
                   str(tasks), "--method", "attribute,ablate", "--preset", "standard", "--limit", "120", "--at-chance",
                   "--quiet", "--threads", "1", "--out"]  # fmt: skip
        subprocess.run([*command, str(base / "whole")], check=True)
        broken, draw, kills = base / "broken", random.Random(0), 0
        maps = [broken]
        while kills < KILLS:
            if not _pids(broken) and (broken / "run.json").exists() and not (broken / "work").exists():
                broken = base / f"broken-{kills}"  # it was done: begin another one
                maps.append(broken)
            driver = subprocess.Popen([*command, str(broken), "--workers", "2"], stderr=subprocess.DEVNULL)
            time.sleep(draw.uniform(0, LONGEST))
            kills += _kill(draw.choice([driver.pid, *_pids(broken)]))
            if driver.poll() is None and draw.random() < 0.5:
                kills += _kill(driver.pid)
            driver.wait()
        subprocess.run([*command, str(broken), "--workers", "2"], check=True, stderr=subprocess.DEVNULL)
        whole = {name: (base / "whole" / name).read_bytes() for name in TABLES}
        same = sum(all((out / name).read_bytes() == whole[name] for name in TABLES) for out in maps)
        left = [path for out in maps for path in (out / "cells").iterdir() if path.suffix != ".safetensors"]
        left += [out / "work" for out in maps if (out / "work").exists()]
        report("kills of a process of two workers", kills, "kills", "100")
        report("maps whose tables have not the bytes of one process", len(maps) - same, "maps", "0")
        report("locks and claims left behind", len(left), "files", "0")


def _pids(out: Path) -> list[int]:
    return [worker.pid for worker in FolderStore(out).workers() if not worker.is_gone]


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
