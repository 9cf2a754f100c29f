"""Progress on standard error: a spinner for steps of unknown length, a bar with rate and time left for the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

Advance = Callable[[float], None]


class _Rate(ProgressColumn):
    """Tokens per second, the unit in which all work here is measured."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} tokens/s" if speed else "", style="progress.data.speed")


@dataclass
class Reporter:
    """Where progress and remarks go. `quiet` silences both; errors are not its business."""

    quiet: bool = False
    console: Console = field(default_factory=lambda: Console(file=sys.stderr, highlight=False, markup=False))

    def say(self, text: str) -> None:
        if not self.quiet:
            self.console.print(text)

    @contextmanager
    def spinner(self, text: str) -> Iterator[None]:
        """A step whose length nobody knows. Without a terminal it is one line, printed when the step begins."""
        if self.quiet:
            yield
        elif self.console.is_terminal:
            with self.console.status(text):
                yield
        else:
            self.say(text)
            yield

    @contextmanager
    def bar(self, text: str, cells: int, tokens: float) -> Iterator[Advance]:
        """A bar over `cells` units of work that cost `tokens` in all; yields the function that marks one as done."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[done]}/{task.fields[cells]}"),
            _Rate(),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        visible = not self.quiet and self.console.is_terminal and cells > 0
        with Progress(*columns, console=self.console, disable=not visible) as progress:
            bar = progress.add_task(text, total=tokens, done=0, cells=cells)

            def advance(cost: float) -> None:
                progress.update(bar, advance=cost, done=progress.tasks[bar].fields["done"] + 1)

            yield advance
