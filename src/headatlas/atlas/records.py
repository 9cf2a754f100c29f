"""The rows that an atlas holds, as typed records: what methods, tests and competence hand over to be written."""

from __future__ import annotations

import math
from dataclasses import dataclass

from headatlas.noise import Noise
from headatlas.stats import Summary

Head = tuple[int, int]  # (layer, head)

# The verdict on a task after the intact model has tried it.
COMPETENT, AT_CHANCE, TOO_FEW_KNOWN = "competent", "not competent", "too few known items"

# Diagnostics about stability: how many heads of a task are first (k), how many of them two halves of the examples have
# in common, and how many stay first when one wording is left out: on average, and for the worst wording.
FIRST_HEADS, SHARED_BY_HALVES = "first heads", "first heads shared by halves"
WORDINGS, WITHOUT_A_WORDING = "wordings", "first heads without one wording"
WITHOUT_WORST_WORDING = "first heads without the worst wording"

# Diagnostics of a race for the first heads: how many were asked for, with which confidence; how many are settled to be
# among them and how many may or may not be; the share of all exact effects that it took; how many unseen examples of
# each head attribution may miss, and by how many nats; and one entry for each of these heads, with its effect.
FIRST_ASKED, FIRST_CONFIDENCE = "first heads asked for", "confidence of the first heads"
FIRST_SETTLED, UNSETTLED, EXACT_SHARE = "first heads settled", "heads unsettled", "share of exact effects"
ODD_ALLOWED, ODD_ERROR = "odd examples allowed", "error of an odd example"
AMONG_FIRST, MAY_BE_FIRST = "among the first heads", "may be among the first heads"


@dataclass(frozen=True)
class HeadMap:
    """One value for every measured head of one task, with its error and p-value, and where it is known the noise of
    all heads together."""

    method: str
    measure: str
    task: str
    seed: int
    heads: tuple[Head, ...]
    summary: Summary
    noise: Noise | None = None


@dataclass(frozen=True)
class Diagnostic:
    """One number that a method reports beside its maps.

    Numbers about one head have `layer` and `head`; points of a curve have `step` or `rank`; numbers about two seeds
    have `other_seed`. `low` and `high` bound the 95 % interval of the value, `null_low` and `null_high` the middle
    95 % of what the null gives.
    """

    method: str
    metric: str
    value: float
    task: str | None = None
    seed: int = 0
    layer: int | None = None
    head: int | None = None
    step: int | None = None
    rank: int | None = None
    other_seed: int | None = None
    low: float | None = None
    high: float | None = None
    null_low: float | None = None
    null_high: float | None = None

    @classmethod
    def with_interval(
        cls, method: str, metric: str, value: float, bounds: tuple[float, float], task: str, seed: int = 0
    ) -> Diagnostic:
        """A number of one task with its 95 % interval; bounds that are not known (NaN) are left out."""
        low, high = (None if math.isnan(bound) else float(bound) for bound in bounds)
        return cls(method, metric, float(value), task, seed, low=low, high=high)


@dataclass(frozen=True)
class Evidence:
    """What one intervention did to held-out examples; the columns are explained in `tables.EVIDENCE`."""

    test: str
    task: str
    eval_task: str | None
    control: str
    metric: str
    value: float
    intact: float | None = None
    low: float | None = None
    high: float | None = None
    k: int | None = None
    draw: int | None = None
    factor: float | None = None
    compared_with: str | None = None
    p_value: float | None = None
    q_value: float | None = None
    groups: int | None = None
    remark: str | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high"):  # what is not known is None
            if (bound := getattr(self, name)) is not None and math.isnan(bound):
                object.__setattr__(self, name, None)


@dataclass(frozen=True)
class Competence:
    """How the intact model does on one task.

    `accuracy` is forced choice among the answer and its distractors, or greedy exact match where there are none; `low`
    and `high` bound its 95 % interval, `chance` is what guessing gives. `margin` is the log-probability of the answer
    over the best distractor (None without distractors), `exact` the share that greedy decoding gets right. `mapped`
    counts the items that were left for methods, of all splits: 0 for a task that was left out.
    """

    task: str
    items: int
    accuracy: float
    low: float
    high: float
    chance: float
    logprob: float
    margin: float | None
    exact: float
    mapped: int
    verdict: str
