"""How the roles of heads depend on lambda, the one number of causal head gating that is chosen by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headatlas.errors import UsageError
from headatlas.methods.gate import STAGES, Gate, check_stage, gates_of
from headatlas.methods.gate_cells import Wanted
from headatlas.methods.work import Work
from headatlas.roles import OPEN, ROLES, roles

if TYPE_CHECKING:
    import pandas as pd

STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0)


@dataclass(frozen=True)
class Sweep:
    """The roles under several lambdas, as tidy tables.

    `heads`: task, seed, strength, layer, head, measure, value. `summary`: task, seed, strength, measure, value; the
    measures are the share of heads above 0.5 in each role, and on `evaluate` the likelihood a token of the full model
    (`full_nll`) and under the binarised gates (`plus_binary_nll`, `minus_binary_nll`).
    """

    heads: pd.DataFrame
    summary: pd.DataFrame


def sweep(
    work: Work, task: str, lambdas: Sequence[float] = STRENGTHS, seed: int = 0, settings: Gate | None = None
) -> Sweep:
    """Fit `task` once with lambda = 0, and from there with plus and minus each of the (positive) `lambdas`."""
    import pandas as pd

    if not lambdas:
        raise UsageError("A sweep over no lambda was asked for. Give at least one, such as 0.1.")
    for strength in lambdas:
        check_stage("plus", strength)
    gate = settings or Gate()
    fits = gate.fits(work, [task], lambdas, [seed])[task]
    base = fits[Wanted(seed, "base", 0.0)]
    pairs = [[fits[Wanted(seed, s, STAGES[s] * strength)] for s in ("plus", "minus")] for strength in lambdas]
    full, held = gate.held_out(work, task, [[base, *pair] for pair in pairs])
    heads, summary = [], []
    for strength, pair, own in zip(lambdas, pairs, held, strict=True):
        place = {"task": task, "seed": seed, "strength": strength}
        measures = roles(*(gates_of(kept) for kept in pair))
        for measure, values in measures.items():
            heads += [
                place | {"layer": layer, "head": head, "measure": measure, "value": value}
                for (layer, head), value in zip(work.heads, values.ravel().tolist(), strict=True)
            ]
        found = {role: float(np.mean(measures[role] > OPEN)) for role in ROLES}
        found |= {"full_nll": full.value} | {f"{m}_nll": own[m].value for m in ("plus_binary", "minus_binary")}
        summary += [place | {"measure": measure, "value": value} for measure, value in found.items()]
    return Sweep(pd.DataFrame(heads), pd.DataFrame(summary))
