"""Progress on standard error: bars and spinners in a terminal, a line now and then in a log file."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

SILENCE = 30.0  # seconds that pass without a terminal before a long step says how far it is
_working = threading.local()  # `course` is that of the cells that this thread computes


class Advance(Protocol):
    """Moves a bar by so many tokens and by so many cells that are done."""

    def __call__(self, tokens: float, cells: int = 1) -> None: ...


class CellsCourse:
    """Moves a bar while a thread computes cells one after the other, which may say how far they are together."""

    def __init__(self, advance: Advance, tokens: float) -> None:
        self._advance, self._tokens = advance, tokens
        self._done = self._shown = 0.0  # tokens of the cells that are done, and how far the bar was moved

    def __call__(self, tokens: float, cells: int = 1) -> None:
        """A cell of so many tokens is done."""
        self._done += tokens
        self._move(self._done, cells)

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Cells are computed here, in this thread."""
        before, _working.course = getattr(_working, "course", None), self
        try:
            yield
        finally:
            _working.course = before

    def reach(self, share: float) -> None:
        self._move(share * self._tokens, 0)

    def _move(self, tokens: float, cells: int) -> None:
        more = max(0.0, tokens - self._shown)
        self._shown += more
        self._advance(more, cells)


def say_share(share: float) -> None:
    """Called by a long cell: this share of what is computed together with it is done, from 0 to 1."""
    course = getattr(_working, "course", None)
    if course is not None:
        course.reach(share)


class _Rate(ProgressColumn):
    """Tokens per second, the unit in which all work here is measured."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} tokens/s" if speed else "", style="progress.data.speed")


@dataclass
class _Course:
    """How far a step is, and what there is to say about it."""

    title: str
    cells: int
    tokens: float
    started: float = field(default_factory=time.monotonic)
    done_cells: int = 0
    done_tokens: float = 0.0

    def sentence(self) -> str:
        elapsed = time.monotonic() - self.started
        if not self.cells:
            return f"{self.title}: {_duration(elapsed)} so far"
        text = f"{self.title}: {self.done_cells} of {self.cells} done after {_duration(elapsed)}"
        if not self.done_tokens or not elapsed:
            return text
        rate = self.done_tokens / elapsed
        left = max(self.tokens - self.done_tokens, 0) / rate
        return f"{text}, {rate:,.0f} tokens/s, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


@dataclass
class Reporter:
    """Where progress and remarks go. `quiet` silences both; errors are not its business."""

    quiet: bool = False
    console: Console = field(default_factory=lambda: Console(file=sys.stderr, highlight=False, markup=False))
    silence: float = SILENCE

    def say(self, text: str) -> None:
        if not self.quiet:
            self.console.print(text, soft_wrap=True)

    @contextmanager
    def spinner(self, text: str) -> Iterator[None]:
        """A step whose length nobody knows. Without a terminal: a line when it begins, and others if it is long."""
        if self.quiet:
            yield
        elif self.console.is_terminal:
            with self.console.status(text):
                yield
        else:
            self.say(text)
            with self._lines(_Course(text, 0, 0.0)):
                yield

    @contextmanager
    def bar(self, text: str, cells: int, tokens: float) -> Iterator[Advance]:
        """A bar over `cells` units of work that cost `tokens` in all; yields the function that marks one as done."""
        course = _Course(text, cells, tokens)
        if self.quiet or not cells:
            yield lambda tokens, cells=1: None
        elif self.console.is_terminal:
            with self._drawn(course) as advance:
                yield advance
        else:

            def advance(tokens: float, cells: int = 1) -> None:
                course.done_cells += cells
                course.done_tokens += tokens

            with self._lines(course):
                yield advance

    @contextmanager
    def _drawn(self, course: _Course) -> Iterator[Advance]:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[done]}/{task.fields[cells]}"),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        with Progress(*columns, console=self.console) as progress:
            bar = progress.add_task(course.title, total=course.tokens, done=0, cells=course.cells)

            def advance(tokens: float, cells: int = 1) -> None:
                progress.update(bar, advance=tokens, done=progress.tasks[bar].fields["done"] + cells)

            yield advance

    @contextmanager
    def _lines(self, course: _Course) -> Iterator[None]:
        """Say how far a step is, every `silence` seconds, from a thread: a single cell may take minutes."""
        over = threading.Event()

        def speak() -> None:
            while not over.wait(self.silence):
                self.say(course.sentence())

        speaker = threading.Thread(target=speak, daemon=True)
        speaker.start()
        try:
            yield
        finally:
            over.set()
            speaker.join()
