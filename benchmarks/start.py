"""What a user waits for before anything runs: the help, and the suite."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.clock import interleaved, report
from headatlas.suites.cognitive import cognitive


def run() -> None:
    def python(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    bare, imported, helped = interleaved(
        [
            lambda: python("-c", ""),
            lambda: python("-c", "import headatlas"),
            lambda: python("-m", "headatlas", "--help"),
        ]
    )
    report("python alone", bare, "s", "")
    report("import headatlas", imported, "s", "below 0.5")
    report("headatlas --help", helped, "s", "below 0.5")
    (built,) = interleaved([cognitive], repeats=3)
    report("building the cognitive suite", built, "s", "below 2")
