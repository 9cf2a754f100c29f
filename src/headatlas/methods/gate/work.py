"""The work of fits before they are made: at most, because most fits end before their last step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from headatlas.methods.gate import contrast_fit, masks, stages
from headatlas.methods.gate.cells import FitKey, Masks, Problem, held_out_cells
from headatlas.methods.gate.likelihood import task_quantity, whole_portions
from headatlas.methods.gate.settings import FitSettings
from headatlas.methods.gate.stability import other_settings
from headatlas.run.context import RunContext
from headatlas.run.quantity import TaskQuantity
from headatlas.run.work import Step

if TYPE_CHECKING:
    from headatlas.methods.gate.contrast import Contrast
    from headatlas.methods.gate.gate import Gate


def gate_steps(gate: Gate, context: RunContext, tasks: Sequence[str]) -> list[Step]:
    """The stages of every task, those that only say how stable roles are, and masks on held-out examples."""
    steps = []
    for settings in (gate, *other_settings(gate).values()):
        problems = {task: stages.problem(settings, context, task) for task in tasks}
        for title, wanted in zip((stages.TITLE, stages.URGED_TITLE), stages.stage_keys(settings), strict=True):
            steps += [_fits(title, settings, context, problems, wanted)] if wanted else []
    counts = [len(gate.stages) + len(masks.BINARISED)] * gate.seeds
    for task in tasks:
        quantity = task_quantity(context, task, "evaluate", gate.metric, gate.baseline)
        steps.append(_held_out(masks.TITLE, quantity, counts, gate.info.name))
    return steps


def contrast_steps(contrast: Contrast, context: RunContext) -> list[Step]:
    """One fit per seed, and its soft and binary mask on every task."""
    wanted = contrast_fit.contrast_keys(contrast, context)
    problems, counts = {contrast.keep: contrast_fit.problem(contrast, context)}, [2] * contrast.seeds
    steps = [_fits(contrast_fit.TITLE, contrast, context, problems, wanted)]
    for task in context.tasks:
        quantity = task_quantity(context, task, "evaluate")
        steps.append(_held_out(contrast_fit.HELD_OUT_TITLE, quantity, counts, contrast.info.name))
    return steps


def _fits(
    title: str, settings: FitSettings, context: RunContext, problems: Mapping[str, Problem], wanted: Sequence[FitKey]
) -> Step:
    """Where a later stage starts is not known yet; the work is the same from any start."""
    start = stages.random_start(settings, context)
    cells = [cell for part in problems.values() for cell in part.cells(context, wanted, start, settings).values()]
    loads = [load for part in problems.values() for load in part.loads(len(wanted))]
    return Step(title, cells, sum(cell.tokens for cell in cells), loads)


def _held_out(title: str, quantity: TaskQuantity, counts: Sequence[int], method: str) -> Step:
    """Of the intact model, and of so many masks of every seed."""
    shape = quantity.context.model.shape
    gated = [Masks(torch.ones(count, *shape), [method, seed]) for seed, count in enumerate(counts)]
    cells = held_out_cells(quantity, [Masks(torch.ones(1, *shape), "open"), *gated])
    return Step(title, cells, loads=[portion.load(max(counts)) for portion in whole_portions(quantity)])
