"""What is exported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.atlas.atlas import Atlas
from headatlas.progress import Reporter

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel
    from headatlas.suites.suite import Suite


@dataclass(frozen=True)
class Request:
    """An atlas, and what of it; where a format holds a single map it is that of `one_task` by `method`.

    `model` and `suite` are needed only by formats that run the model, and are those of the atlas unless given. `sinks`
    and `recent` are the first and last tokens that a streaming head sees in the pattern of DuoAttention.
    """

    atlas: Atlas
    task: str | None
    method: str
    measure: str
    reporter: Reporter
    model: HeadModel | str | Path | None = None
    suite: Suite | None = None
    k: int | None = None
    sinks: int = 64
    recent: int = 256

    @property
    def one_task(self) -> str:
        return self.atlas.choose_task(self.task)

    @property
    def tasks(self) -> list[str]:
        """The task asked for, or all that the method mapped."""
        return [self.one_task] if self.task else self.atlas.tasks_of(self.method)
