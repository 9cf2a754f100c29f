"""The quick preset on the bundled model, mapped and then verified: time and peak memory of the commands themselves."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile

from benchmarks.clock import report, seconds


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for command, bound in ((["map", "--out"], "at most 15"), (["verify"], "at most 5")):
            whole = [sys.executable, "-m", "headatlas", *command, f"{folder}/atlas", "--quiet"]
            spent = seconds(lambda whole=whole: subprocess.run(whole, check=True))  # type: ignore[misc]
            report(f"headatlas {command[0]}, quick preset", spent / 60, "minutes", bound)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
            report(f"headatlas {command[0]}, quick preset: peak memory so far", peak, "GB", "below 3")
