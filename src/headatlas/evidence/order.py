"""Do roles predict what ablation does? Remove heads in the order of a role, and watch the answer.

Removing facilitating heads first should lower the answer's log-probability soonest, irrelevant ones should leave it,
and interfering ones should not lower it. Whatever comes out is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.declarations import Control, TestInfo
from headatlas.atlas.records import Evidence
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence.base import EvidenceTest
from headatlas.intervals import mean_interval, too_few
from headatlas.methods.gate.roles import OPEN, ROLES
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.evidence.trial import Trial
    from headatlas.methods.gate.cells import Masks
    from headatlas.run.context import RunContext

MATCHED = "facilitation"  # the order whose layers the random orders follow
HeadOrder = NDArray[np.int64]  # heads as layer * heads + head, first to go first


class Order(EvidenceTest):
    """The test of every task that has roles. Gates were fitted with closed heads at zero, so removed heads are
    zero here too, whatever replaces them in other tests."""

    info: ClassVar[TestInfo] = TestInfo(
        name="order",
        title="In the order of each role",
        summary="removes heads in the order of each role that gates gave them",
        question="Does it hurt to remove facilitating heads, and not to remove irrelevant or interfering ones?",
        shape="curve",
        axis="heads removed",
        controls=(
            Control(name="facilitation", meaning="heads that facilitate, strongest role first"),
            Control(name="irrelevance", meaning="heads that are irrelevant, strongest role first"),
            Control(name="interference", meaning="heads that interfere, strongest role first"),
            Control(name="random", meaning="random heads, layer by layer as in the order of facilitation"),
        ),
        chosen=("facilitation", "irrelevance", "interference"),
        needs=ROLES,
        figures=("order",),
    )

    def run(self, trial: Trial) -> list[Evidence]:
        rows = []
        for task in trial.tasks:
            scores = {role: trial.map_of(task, role) for role in ROLES}
            rows += order_evidence(trial.context, task, scores, draws=trial.settings.few_draws)
        return rows


def order_evidence(
    context: RunContext,
    task: str,
    scores: Mapping[str, Array],
    counts: Sequence[int] | None = None,
    draws: int = 5,
    baseline: str = "zero",
) -> list[Evidence]:
    """Evidence about one task, measured on `evaluate`.

    `scores` gives each of the three roles as [layer, head], for instance the mean over seeds. Heads are removed (put to
    `baseline`) from the highest score down; `counts` says how many, `grid` by default. `control` is the role, or
    `random` with its number as `draw`: an order with the same layers as that of facilitation but other heads in them.
    `value` is the mean log-probability of the answers. Rows with a `factor` (the threshold 0.5) are those in which
    exactly the heads above it are removed.
    """
    from headatlas.methods.gate.cells import held_out_nll
    from headatlas.methods.gate.likelihood import task_quantity

    _check(context, task, scores)
    orders = {role: np.argsort(-np.ravel(scores[role]), kind="stable") for role in ROLES}
    holders = {role: int((np.asarray(scores[role]) > OPEN).sum()) for role in ROLES}
    total = len(context.heads)
    counts = grid(total) if counts is None else sorted({int(k) for k in counts})
    if not counts or counts[0] < 0 or counts[-1] > total:
        raise UsageError(f"Counts {list(counts)} were asked for; the model has {total} heads. Give 0 to {total}.")
    random = [matched_order(orders[MATCHED], context.model.shape, draw) for draw in range(draws)]
    plan: list[tuple[str, float | None, int | None, HeadOrder]] = []  # control, threshold, draw, heads removed
    plan += [(role, None, None, orders[role][:k]) for role in ROLES for k in counts]
    plan += [("random", None, draw, order[:k]) for draw, order in enumerate(random) for k in counts]
    plan += [(role, OPEN, None, orders[role][: holders[role]]) for role in ROLES]
    quantity = task_quantity(context, task, "evaluate", baseline=baseline)
    masks = [_without(context, removed) for removed in (orders[MATCHED][:0], *(removed for *_, removed in plan))]
    intact, *scored = held_out_nll(quantity, masks, "Ablation in order")
    groups = quantity.groups
    about: dict[str, Any] = {"groups": len(set(groups)), "remark": too_few(groups)}
    start = float(-intact.mean())
    rows = []
    for (control, threshold, draw, removed), losses in zip(plan, scored, strict=True):
        low, high = mean_interval((intact - losses)[0], groups)
        row = ("logprob", float(-losses.mean()), start, start + float(low), start + float(high), len(removed), draw)
        rows.append(Evidence(Order.info.name, task, task, control, *row, factor=threshold, **about))
    return rows


def _check(context: RunContext, task: str, scores: Mapping[str, Array]) -> None:
    if missing := [role for role in ROLES if role not in scores]:
        raise UsageError(
            f"An order by {missing[0]} was asked for, but only {', '.join(scores) or 'nothing'} was given."
        )
    for role in ROLES:
        if np.shape(scores[role]) != context.model.shape or not np.isfinite(scores[role]).all():
            raise HeadAtlasError(
                f"The {role} of {task!r} has the shape {np.shape(scores[role])} or missing values; every head of "
                f"{context.model.shape} needs one."
            )


def grid(total: int, points: int = 10) -> list[int]:
    """0, then counts that grow by about the same factor, up to all heads."""
    return sorted({0, *np.geomspace(1, total, points).round().astype(int).tolist()})


def matched_order(order: HeadOrder, shape: tuple[int, int], draw: int) -> HeadOrder:
    """A random order of all heads whose layers come in the same sequence: heads change places within their layer."""
    rng = np.random.default_rng([draw, 17])
    layers, heads = shape
    renamed = np.stack([layer * heads + rng.permutation(heads) for layer in range(layers)])
    return renamed.ravel()[order]


def _without(context: RunContext, removed: HeadOrder) -> Masks:
    import torch

    from headatlas.methods.gate.cells import Masks

    gates = torch.ones(len(context.heads), dtype=torch.float64)
    gates[torch.from_numpy(np.array(removed))] = 0
    source = {"removed": sorted(removed.tolist())} if len(removed) else "open"
    return Masks(gates.view(1, *context.model.shape), source)
