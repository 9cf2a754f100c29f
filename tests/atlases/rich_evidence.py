"""Rows of evidence, made up: numbers of the kind that each test gives."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from headatlas.atlas.declarations import TestInfo
from headatlas.atlas.records import Evidence
from headatlas.evidence.base import with_q_values
from headatlas.evidence.specificity import OTHERS
from headatlas.suites.cognitive.functions import HIGH, LOW
from headatlas.suites.neutral.generate import TASK as NEUTRAL

Random = np.random.Generator


@dataclass(frozen=True)
class Amount:
    """How much was tested; `heads` is the number of heads of the model."""

    ks: tuple[int, ...]
    draws: int
    neutral: bool
    heads: int


def evidence_rows(rng: Random, test: TestInfo, tasks: Sequence[str], amount: Amount) -> list[Evidence]:
    """The rows of a test; of one that is not registered, those of the registered test of its shape."""
    by_shape: dict[str, Maker] = {"curve": mask, "recovery": keep, "matrix": specificity, "change": steer}
    make = MAKERS.get(test.name, by_shape[test.shape])
    return with_q_values([replace(row, test=test.name) for row in make(rng, tasks, amount)])


def _levels(
    task: str, eval_task: str, control: str, change: float, error: float, intact: float, **columns
) -> Iterator[Evidence]:
    """Log-probability and accuracy of one intervention."""
    value, share = intact + change, float(np.clip(0.8 + 0.12 * change, 0, 1))
    low, high = np.clip([share - 0.07, share + 0.07], 0, 1).tolist()
    yield Evidence("", task, eval_task, control, "logprob", value, intact, value - error, value + error, **columns)
    yield Evidence("", task, eval_task, control, "accuracy", share, 0.8, low, high, **columns)


def _difference(task: str, eval_task: str, metric: str, value: float, error: float, **columns) -> Evidence:
    return Evidence("", task, eval_task, "top", metric, value, 0.0, value - error, value + error, **columns)


def mask(rng: Random, tasks: Sequence[str], amount: Amount) -> Iterator[Evidence]:
    """Every task also has one k of its own, its elbow."""
    for i, task in enumerate(tasks):
        intact, force = -1.0 - 0.3 * i, rng.uniform(0.1, 0.9)
        elbow = {int(rng.integers(2, 40))} if len(amount.ks) > 1 else set()
        for k in sorted({*amount.ks, *elbow}):
            top = -force * k**0.6
            yield from _levels(task, task, "top", top, 0.15 + 0.2 * abs(top), intact, k=k)
            yield from _levels(task, task, "lowest", float(rng.normal(0, 0.02 * k**0.5)), 0.1, intact, k=k)
            drawn = rng.normal(-0.05 * k**0.8, 0.12 * k**0.5, amount.draws)
            for draw, change in enumerate(drawn):
                yield from _levels(task, task, "random", float(change), 0.2, intact, k=k, draw=draw)
            p = float((1 + (drawn <= top).sum()) / (1 + amount.draws))
            beyond = top - float(drawn.mean())
            yield _difference(task, task, "logprob", beyond, 0.3, k=k, compared_with="random", p_value=p)


def keep(rng: Random, tasks: Sequence[str], amount: Amount) -> Iterator[Evidence]:
    for task in tasks:
        bend = rng.uniform(0.3, 0.8)
        yield from _levels(task, task, "none", -6.0, 0.5, -1.0, k=0)
        for k in (size for size in (4, 8, 16, 32, 64, 128) if size < amount.heads):
            share = (k / amount.heads) ** (bend * 0.6)
            yield from _levels(task, task, "top", 5 * share - 5, 0.3, -1.0, k=k)
            yield Evidence("", task, task, "top", "fraction", share, 1.0, share - 0.09, share + 0.08, k)
            for draw in range(10):
                other = (k / amount.heads) ** 1.2 + rng.normal(0, 0.06)
                yield Evidence("", task, task, "random", "fraction", other, 1.0, other - 0.1, other + 0.1, k, draw)
        for control, area in (("top", 0.4 + bend / 3), ("random", 0.45)):
            yield Evidence("", task, task, control, "cpr", area, None, area - 0.05, area + 0.05)
            yield Evidence("", task, task, control, "cmd", 1 - area, None, 0.95 - area, 1.05 - area)


def specificity(rng: Random, tasks: Sequence[str], amount: Amount) -> Iterator[Evidence]:
    for task in tasks:
        for eval_task in [*tasks, *[NEUTRAL] * amount.neutral]:
            change = float(-abs(rng.normal(0.4, 0.4)) - 1.6 * (task == eval_task))
            yield from _levels(task, eval_task, "top", change, 0.3, -1.2, k=16)
        if len(tasks) > 1:
            beyond = float(rng.normal(-1.1, 0.6))
            for metric, size in (("logprob", 1.0), ("accuracy", 0.12)):
                yield _difference(task, task, metric, size * beyond, size * 0.5, k=16, compared_with=OTHERS)
        if amount.neutral:
            masked = 21.7 + float(abs(rng.normal(2, 2)))
            yield Evidence("", task, NEUTRAL, "top", "perplexity", masked, 21.7, masked - 1, masked + 1, 16)


def hierarchy(rng: Random, tasks: Sequence[str], amount: Amount) -> Iterator[Evidence]:
    """Its tasks are always those of the cognitive suite."""
    for high in HIGH:
        for low in LOW:
            top = float(-abs(rng.normal(0.8, 0.6)))
            drawn = rng.normal(-0.3, 0.15, 10)
            yield from _levels(low, high, "top", top, 0.3, -2.0, k=16)
            for draw, change in enumerate(drawn):
                yield from _levels(low, high, "random", float(change), 0.2, -2.0, k=16, draw=draw)
            beyond = top - float(drawn.mean())
            for metric, size in (("logprob", 1.0), ("accuracy", 0.12)):
                yield _difference(low, high, metric, size * beyond, size * 0.35, k=16, compared_with="random")


def steer(rng: Random, tasks: Sequence[str], amount: Amount) -> Iterator[Evidence]:
    """The third task is not steered, as happens where the model gets nearly all items right."""
    for i, task in enumerate(tasks):
        strength = [("steer", float(rng.choice([1, 2, 5, 10])))] if i != 2 else []
        for control, factor in [*strength, ("scale", 0.5), ("scale", 1.5), ("scale", 2.0)]:
            gain = float(rng.normal(0.5, 0.3)) if control == "steer" else float(rng.normal(-0.1, 0.2))
            yield from _levels(task, task, control, gain, 0.25, -1.2, k=16, factor=factor)
            if amount.neutral:
                cost = float(-abs(rng.normal(0.1, 0.1)))
                yield from _levels(task, NEUTRAL, control, cost, 0.08, -1.2, k=16, factor=factor)


def order(rng: Random, tasks: Sequence[str], amount: Amount) -> Iterator[Evidence]:
    counts = sorted({0, *(k for k in (1, 4, 16, 64) if k < amount.heads), amount.heads})
    for task in tasks:
        for control, slope in (("facilitation", 1.2), ("irrelevance", 0.03), ("interference", -0.1)):
            for k, factor in [*((k, None) for k in counts), (min(12, amount.heads), 0.5)]:
                change = -slope * np.log1p(k)
                row = ("logprob", -1.6 + change, -1.6, -1.8 + change, -1.4 + change, k)
                yield Evidence("", task, task, control, *row, factor=factor)
        for draw in range(3):
            for k in counts:
                change = -float(rng.uniform(0.2, 0.4)) * np.log1p(k)
                yield Evidence("", task, task, "random", "logprob", -1.6 + change, -1.6, -1.8, -1.4, k, draw)


Maker = Callable[[Random, Sequence[str], Amount], Iterator[Evidence]]
MAKERS: dict[str, Maker] = {
    "mask": mask,
    "keep": keep,
    "specificity": specificity,
    "hierarchy": hierarchy,
    "steer": steer,
    "order": order,
}
