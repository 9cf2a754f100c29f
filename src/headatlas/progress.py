"""Progress on standard error: bars and spinners in a terminal, a line now and then in a log file."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

Advance = Callable[[float], None]
SILENCE = 30.0  # seconds that pass without a terminal before a long step says how far it is


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
            yield lambda cost: None
        elif self.console.is_terminal:
            with self._drawn(course) as advance:
                yield advance
        else:

            def advance(cost: float) -> None:
                course.done_cells += 1
                course.done_tokens += cost

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

            def advance(cost: float) -> None:
                progress.update(bar, advance=cost, done=progress.tasks[bar].fields["done"] + 1)

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
