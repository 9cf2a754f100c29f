"""Suites of tasks: built in, by name, or read from a task file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.errors import UsageError, unknown

if TYPE_CHECKING:
    from headatlas.suites.suite import Suite

# Name to what it is, in one line.
SUITES = {
    "cognitive": "eight cognitive functions, 300 generated examples of each, three levels of difficulty",
    "roles": "Math Calculation and Syntactic Understanding, 600 examples of each, three levels",
    "chains": "200 questions answered in 3 to 5 steps, each step one of the eight functions",
    "neutral": "continuing plain text, the control for heads that matter to everything",
}


WITHOUT_LEVELS = ("chains",)


def load_suite(source: str | Path, level: int | None = None) -> Suite:
    """A built-in suite at a level of difficulty (1 unless given), or the suite in a JSONL task file."""
    name = str(source)
    if level is not None and (name not in SUITES or name in WITHOUT_LEVELS):
        raise UsageError(f"Level {level} was asked for, but {name!r} has no levels. Leave --level out.")
    if name in SUITES:
        from headatlas.suites import built_in

        return getattr(built_in, name)(level or 1)
    path = Path(source).expanduser()
    if path.is_file():
        from headatlas.suites.jsonl import read_jsonl

        return read_jsonl(path)
    if path.suffix or "/" in str(source):
        raise UsageError(f"There is no task file {str(source)!r}. Built-in suites: {', '.join(SUITES)}.")
    raise unknown("suite", str(source), SUITES)
