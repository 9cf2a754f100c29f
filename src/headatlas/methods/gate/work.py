"""The work of fits before they are made: at most, because most fits end before their last step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from headatlas.methods.gate import contrast_fit, stages
from headatlas.methods.gate.cells import FitKey, Masks, Problem, held_out_cells
from headatlas.methods.gate.settings import FitSettings
from headatlas.run.cells import Cell
from headatlas.run.context import RunContext
from headatlas.run.work import Step

if TYPE_CHECKING:
    from headatlas.methods.gate.contrast import Contrast
    from headatlas.methods.gate.gate import Gate


def gate_steps(gate: Gate, context: RunContext, tasks: Sequence[str]) -> list[Step]:
    """The stages of every task, and their masks on held-out examples."""
    problems = {task: stages.problem(gate, context, task) for task in tasks}
    first, second = stages.stage_keys(gate)
    masks = [len(stages.MASKS)] * gate.seeds
    return [
        _fits(stages.TITLE, gate, context, problems, first),
        _fits(stages.URGED_TITLE, gate, context, problems, second),
        *(Step(stages.HELD_OUT_TITLE, _held_out(context, task, masks, gate.info.name)) for task in tasks),
    ]


def contrast_steps(contrast: Contrast, context: RunContext) -> list[Step]:
    """One fit per seed, and its soft and binary mask on every task."""
    wanted = contrast_fit.contrast_keys(contrast, context)
    problems, masks = {contrast.keep: contrast_fit.problem(contrast, context)}, [2] * contrast.seeds
    return [
        _fits(contrast_fit.TITLE, contrast, context, problems, wanted),
        *(
            Step(contrast_fit.HELD_OUT_TITLE, _held_out(context, task, masks, contrast.info.name))
            for task in context.tasks
        ),
    ]


def _fits(
    title: str, settings: FitSettings, context: RunContext, problems: Mapping[str, Problem], wanted: Sequence[FitKey]
) -> Step:
    """Where a later stage starts is not known yet; the work is the same from any start."""
    start = stages.random_starts(settings, context)
    cells = [cell for part in problems.values() for cell in part.cells(context, wanted, start, settings).values()]
    sizes = [part.step_tokens * min(part.together, len(wanted)) for part in problems.values()]
    return Step(title, cells, sum(cell.tokens for cell in cells), max(sizes, default=0))


def _held_out(context: RunContext, task: str, masks: Sequence[int], method: str) -> list[Cell]:
    """Of the intact model, and of so many masks of every seed."""
    shape = context.model.shape
    gated = [Masks(torch.ones(count, *shape), [method, seed]) for seed, count in enumerate(masks)]
    return held_out_cells(context, task, [Masks(torch.ones(1, *shape), "open"), *gated])
