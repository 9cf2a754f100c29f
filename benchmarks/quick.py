"""The quick preset on the bundled model, mapped and then verified: time and peak memory of the commands themselves."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.clock import report

EVERY = 0.5  # seconds between two looks for a figure


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        atlas = Path(folder) / "atlas"
        for command, bound in ((["map", "--out"], "at most 10"), (["verify"], "at most 5")):
            began, first = time.perf_counter(), None
            process = subprocess.Popen([sys.executable, "-m", "headatlas", *command, str(atlas), "--quiet"])
            while process.poll() is None:
                time.sleep(EVERY)
                if first is None and any(atlas.glob("figures/*.png")):
                    first = time.perf_counter() - began
            if process.returncode:
                sys.exit(f"headatlas {command[0]} ended with exit code {process.returncode}.")
            if command[0] == "map" and first is not None:
                report("headatlas map, quick preset: first figure", first / 60, "minutes", "at most 3")
            report(f"headatlas {command[0]}, quick preset", (time.perf_counter() - began) / 60, "minutes", bound)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
            report(f"headatlas {command[0]}, quick preset: peak memory so far", peak, "GB", "below 3")
