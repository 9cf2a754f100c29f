"""The course of a map: what the model can do, then method by method. The driver and all workers follow it alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headatlas.atlas.records import Competence
from headatlas.atlas.run_record import MapSettings
from headatlas.methods.base import Measured, Method
from headatlas.run.batches import Batch
from headatlas.run.cells import CellsFailed
from headatlas.run.competence import Readers, competence
from headatlas.run.context import RunContext
from headatlas.run.intact import Reader
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
    entries, known = competence(context, readers_of(context, methods, settings.known_only))
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


def readers_of(context: RunContext, methods: Sequence[Method], known_only: bool) -> Readers | None:
    """What methods read in the forwards of competence. Nothing where they are to see known items only, which are then
    in other batches."""
    usable = [method for method in methods if len(context.tasks) >= method.info.fewest_tasks]

    def readers(batch: Batch) -> list[Reader]:
        return [reader for method in usable for reader in method.read_with_competence(context, batch)]

    return None if known_only else readers


def enter_stage(context: RunContext, stage: str) -> None:
    """What `headatlas status` shows of the steps that follow."""
    if isinstance(context.runner, SharedRunner):
        context.runner.worker.stage = stage
