"""Do roles predict what ablation does? Remove heads in the order of a role, and watch the answer.

Removing facilitating heads first should lower the answer's log-probability soonest, irrelevant ones should leave it,
and interfering ones should not lower it. Whatever comes out is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence.trial import Evidence, Trial
from headatlas.methods.gate.cells import Masks, held_out_nll
from headatlas.methods.gate.roles import OPEN, ROLES
from headatlas.run.baselines import Baselines
from headatlas.run.context import Work
from headatlas.stats import Array, bootstrap_mean

MATCHED = "facilitation"  # the order whose layers the random orders follow
Order = NDArray[np.int64]  # heads as layer * heads + head, first to go first


def order(trial: Trial) -> list[Evidence]:
    """The test of every task that has roles. Gates were fitted with zero in the place of a closed head, so zero it is
    here as well, whatever stands in for heads in other tests."""
    if not trial.roles:
        trial.work.runner.reporter.say("No ablation in the order of roles: this map has none. Use --method gate.")
    found = []
    for task, scores in trial.roles.items():
        found += order_evidence(trial.work, task, scores, draws=trial.settings.few_draws)
    return found


def order_evidence(
    work: Work,
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
    `value` is the mean log-probability of the answers. Under `facilitation heads` and the like exactly the heads above
    0.5 of that role are removed.
    """
    if missing := [role for role in ROLES if role not in scores]:
        raise UsageError(
            f"An order by {missing[0]} was asked for, but only {', '.join(scores) or 'nothing'} was given."
        )
    for role in ROLES:
        if np.shape(scores[role]) != work.model.shape or not np.isfinite(scores[role]).all():
            raise HeadAtlasError(
                f"The {role} of {task!r} has the shape {np.shape(scores[role])} or missing values; every head of "
                f"{work.model.shape} needs one."
            )
    orders = {role: np.argsort(-np.ravel(scores[role]), kind="stable") for role in ROLES}
    held = {role: int((np.asarray(scores[role]) > OPEN).sum()) for role in ROLES}
    total = len(work.heads)
    counts = grid(total) if counts is None else sorted({int(k) for k in counts})
    if not counts or counts[0] < 0 or counts[-1] > total:
        raise UsageError(f"Counts {list(counts)} were asked for; the model has {total} heads. Give 0 to {total}.")
    random = [matched_order(orders[MATCHED], work.model.shape, draw) for draw in range(draws)]
    plan: list[tuple[str, int | None, Order]] = []
    plan += [(role, None, orders[role][:k]) for role in ROLES for k in counts]
    plan += [("random", draw, own[:k]) for draw, own in enumerate(random) for k in counts]
    plan += [(f"{role} heads", None, orders[role][: held[role]]) for role in ROLES]
    baselines = Baselines(baseline, work)
    masks = [_without(work, removed, baselines.inputs(task)) for *_, removed in plan]
    intact, *scored = held_out_nll(
        work,
        task,
        [_without(work, orders[MATCHED][:0], {}), *masks],
        "Ablation in order",
        lambda batch: baselines.of(task, batch),
    )
    groups = work.groups(task, "evaluate")
    start = float(-intact.mean())
    rows = []
    for (control, draw, removed), own in zip(plan, scored, strict=True):
        low, high = bootstrap_mean((intact - own)[0], groups)
        row = ("logprob", float(-own.mean()), start, start + float(low), start + float(high), len(removed), draw)
        rows.append(Evidence("order", task, task, control, *row))
    return rows


def grid(total: int, points: int = 10) -> list[int]:
    """0, then counts that grow by about the same factor, up to all heads."""
    return sorted({0, *np.geomspace(1, total, points).round().astype(int).tolist()})


def matched_order(order: Order, shape: tuple[int, int], draw: int) -> Order:
    """A random order of all heads whose layers come in the same sequence: heads change places within their layer."""
    rng = np.random.default_rng([draw, 17])
    layers, heads = shape
    renamed = np.stack([layer * heads + rng.permutation(heads) for layer in range(layers)])
    return renamed.ravel()[order]


def _without(work: Work, removed: Order, baseline: Mapping[str, object]) -> Masks:
    gates = torch.ones(len(work.heads), dtype=torch.float64)
    gates[torch.from_numpy(np.array(removed))] = 0
    source = {"removed": sorted(removed.tolist()), "baseline": baseline} if len(removed) else "open"
    return Masks(gates.view(1, *work.model.shape), source)
