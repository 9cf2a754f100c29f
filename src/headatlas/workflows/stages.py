"""The course of a map: what the model can do, then method by method. The driver and all workers follow it alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headatlas.atlas.records import Competence
from headatlas.atlas.run_record import MapSettings
from headatlas.methods.base import Measured, Method
from headatlas.run.cells import CellsFailed
from headatlas.run.competence import competence
from headatlas.run.context import RunContext
from headatlas.run.rounding import rounding_noise
from headatlas.run.selection import select
from headatlas.run.shared import SharedRunner
from headatlas.workflows.choose_methods import in_turn, usable_methods


@dataclass(frozen=True)
class Judged:
    """What the intact model can do, and so which tasks and methods are to be mapped."""

    entries: list[Competence]
    tasks: tuple[str, ...]
    methods: tuple[Method, ...]
    rounding: float | None


@dataclass(frozen=True)
class Mapped:
    """What a method measured; or why it could not."""

    method: Method
    measured: Measured | CellsFailed


def follow(
    context: RunContext, methods: Sequence[Method], named: bool, settings: MapSettings
) -> Iterator[Judged | Mapped]:
    """One stage after the other, computed when it is asked for. A method whose cells fail does not stop the others."""
    enter_stage(context, "competence")
    entries, known = competence(context)
    entries, context = select(context, entries, known, settings.at_chance, settings.known_only)
    usable = usable_methods(methods, context.tasks, named)
    enter_stage(context, "rounding")
    yield Judged(entries, tuple(context.tasks), usable, rounding_noise(context))
    for method in in_turn(usable):
        enter_stage(context, method.info.name)
        try:
            measured: Measured | CellsFailed = method.measure(context)
        except CellsFailed as failed:
            measured = failed
        yield Mapped(method, measured)


def enter_stage(context: RunContext, stage: str) -> None:
    """What `headatlas status` shows of the steps that follow."""
    if isinstance(context.runner, SharedRunner):
        context.runner.worker.stage = stage
