"""Finished masks on held-out examples: as they were fitted and binarised, and whether both do the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from headatlas.atlas.records import Diagnostic
from headatlas.intervals import ratio_interval, too_few
from headatlas.methods.gate.cells import Fitted, Masks, held_out_cells, held_out_nll
from headatlas.methods.gate.gate import Gate
from headatlas.methods.gate.likelihood import whole_portions
from headatlas.methods.gate.roles import OPEN
from headatlas.run.context import RunContext
from headatlas.run.quantity import TaskQuantity
from headatlas.stats import Array

TITLE = "Gates on held-out examples"
BINARISED = ("plus", "minus")  # the stages that roles are read from
FAILED = "masks do not hold when binarised"
UNKNOWN = "too few groups to check the masks"
Seeds = Sequence[Mapping[str, Fitted]]  # the fits of every seed, by stage


@dataclass(frozen=True)
class HeldOut:
    """What masks do on `evaluate`: rows of the table, which seeds' circuits are enough alone, and why roles are not to
    be read, where they are not."""

    entries: list[Diagnostic] = field(default_factory=list)
    sufficient: list[bool] = field(default_factory=list)
    doubt: str | None = None


def run_masks(context: RunContext, tasks: Iterable[tuple[TaskQuantity, Seeds]]) -> None:
    """Run the masks of several tasks under one bar; `score_masks` finds them done."""
    context.runner.run(
        TITLE,
        [cell for quantity, seeds in tasks for cell in held_out_cells(quantity, _masks(quantity, seeds))],
    )  # fmt: skip


def score_masks(gate: Gate, quantity: TaskQuantity, seeds: Seeds) -> HeldOut:
    """Score the masks of every seed, which has one fit per stage.

    `*_nll` is the mean per answer token (per example for a margin) with its interval; `*_binary_cost` is what
    binarising costs, `circuit_cost` what the binarised `minus` mask costs against the full model. Both are paired by
    example. Maps are means over seeds, and so is the cost that decides whether they may be read.
    """
    (full, *scored) = held_out_nll(quantity, _masks(quantity, seeds), TITLE)
    weights, task = _weights(quantity), quantity.task

    def entry(metric: str, losses: Array, seed: int = 0) -> Diagnostic:
        low, high = ratio_interval(losses, weights, quantity.groups)
        value = losses.sum() / weights.sum()
        return Diagnostic.with_interval(gate.info.name, metric, value, (float(low), float(high)), task, seed)

    entries, sufficient = [entry("full_nll", full[0])], []
    costs: dict[str, list[Array]] = {stage: [] for stage in BINARISED}  # by seed, [example]
    for seed, (fits, losses) in enumerate(zip(seeds, scored, strict=True)):
        by_mask = dict(zip(_soft_and_binary(fits), losses, strict=True))
        entries += [entry(f"{mask}_nll", values, seed) for mask, values in by_mask.items()]
        for stage, of_seeds in costs.items():
            of_seeds.append(by_mask[f"{stage}_binary"] - by_mask[f"{stage}_soft"])
            entries.append(entry(f"{stage}_binary_cost", of_seeds[-1], seed))
        alone = entry("circuit_cost", by_mask["minus_binary"] - full[0], seed)
        sufficient.append(_at_most(alone, gate.sufficient))
        entries.append(alone)
    means = [entry(f"{stage}_mean_binary_cost", np.mean(of_seeds, axis=0)) for stage, of_seeds in costs.items()]
    return HeldOut([*entries, *means], sufficient, _doubt(means, gate.holds, quantity.groups))


def _masks(quantity: TaskQuantity, seeds: Seeds) -> list[Masks]:
    """The intact model, then those of every seed."""
    masks = [Masks(torch.ones(1, *quantity.context.model.shape), "open")]
    for fits in seeds:
        gates = np.stack(list(_soft_and_binary(fits).values()))
        masks.append(Masks(torch.from_numpy(gates), [fit.key for fit in fits.values()]))
    return masks


def _soft_and_binary(fits: Mapping[str, Fitted]) -> dict[str, Array]:
    """Gates by the name of their mask [layer, head]."""
    masks = {f"{stage}_soft": fit.gates for stage, fit in fits.items()}
    return masks | {f"{stage}_binary": (fits[stage].gates > OPEN).astype(float) for stage in BINARISED}


def _doubt(costs: Sequence[Diagnostic], most: float, groups: Sequence[str]) -> str | None:
    if too_few(groups):
        return UNKNOWN
    return None if all(_at_most(cost, most) for cost in costs) else FAILED


def _at_most(cost: Diagnostic, most: float) -> bool:
    """Whether the whole interval is at most `most`; never where there is none."""
    return cost.high is not None and cost.high <= most


def _weights(quantity: TaskQuantity) -> Array:
    """[item]: answer tokens, or 1 for a margin."""
    weights = np.empty(len(quantity.items))
    for portion in whole_portions(quantity):
        weights[list(portion.batch.members)] = portion.weights.numpy()
    return weights
