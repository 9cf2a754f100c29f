"""The quick preset on the bundled model: time and peak memory of the command itself."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile

from benchmarks.clock import report, seconds


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "headatlas", "map", "--quiet", "--out", f"{folder}/atlas"]
        spent = seconds(lambda: subprocess.run(command, check=True))
    report("headatlas map, quick preset", spent / 60, "minutes", "at most 6")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    report("headatlas map, quick preset: peak memory", peak, "GB", "below 3")
