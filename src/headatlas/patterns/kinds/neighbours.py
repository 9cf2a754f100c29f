"""Whether neighbouring heads are alike, and heads that share keys and values.

Both are compared with heads in random order within their layers, so a layer with large effects alone is neither.
"""

from __future__ import annotations

import numpy as np

from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind, one_head_per_layer
from headatlas.patterns.maps import TaskMap
from headatlas.patterns.nulls import WITHIN_LAYERS, Nulls
from headatlas.patterns.phrases import null_range
from headatlas.stats import Array
from headatlas.wording import signed


def heads_per_group(task_map: TaskMap) -> int:
    """How many heads share keys and values."""
    heads = task_map.shape[1]
    return heads // task_map.kv_heads if 1 <= task_map.kv_heads < heads else 1


def one_group(nulls: Nulls) -> str | None:
    all_share = heads_per_group(nulls.map) == nulls.map.shape[1]
    return one_head_per_layer(nulls) or ("all heads of a layer share keys and values" if all_share else None)


def no_groups_to_compare(nulls: Nulls) -> str | None:
    none_share = heads_per_group(nulls.map) == 1
    return one_group(nulls) or ("no two heads share keys and values" if none_share else None)


def neighbours(nulls: Nulls) -> list[Statement]:
    """Correlation of head h and head h + 1. Pairs within one kv group do not count."""
    heads, per_group = nulls.map.shape[1], heads_per_group(nulls.map)
    group = np.arange(heads) // per_group
    counts = group[:-1] != group[1:]

    def correlation(log_sizes: Array) -> Array:
        left, right = log_sizes[..., :-1][..., counts], log_sizes[..., 1:][..., counts]
        square = (left**2 + right**2).sum(axis=(-1, -2)) / 2
        return (left * right).sum(axis=(-1, -2)) / np.where(square > 0, square, 1)

    observed, drawn = _log_sizes(nulls)
    who = "Neighbouring heads" + (" of different kv groups" if per_group > 1 else "")
    return [_alike(nulls.map.task, who, float(correlation(observed)), correlation(drawn))]


def kv_groups(nulls: Nulls) -> list[Statement]:
    """Intraclass correlation: the mean product of two heads of a group over the mean square."""
    per_group = heads_per_group(nulls.map)

    def correlation(log_sizes: Array) -> Array:
        grouped = log_sizes.reshape(*log_sizes.shape[:-1], -1, per_group)
        square = (grouped**2).sum(axis=(-1, -2, -3))
        products = (grouped.sum(axis=-1) ** 2).sum(axis=(-1, -2)) - square
        return products / ((per_group - 1) * np.where(square > 0, square, 1))

    observed, drawn = _log_sizes(nulls)
    who = "Heads that share keys and values"
    return [_alike(nulls.map.task, who, float(correlation(observed)), correlation(drawn))]


def _log_sizes(nulls: Nulls) -> tuple[Array, Array]:
    """Log sizes less the mean of their layer: of the map [layer, head] and of its null [draw, layer, head].

    Logarithms keep single heads from deciding alone.
    """
    task_map = nulls.map
    middle = np.median(task_map.size[task_map.size > 0])

    def on_grid(size: Array) -> Array:
        log_sizes = np.log1p(size.astype(np.float32) / np.float32(middle))
        for heads in task_map.layer_slices:
            log_sizes[:, heads] -= log_sizes[:, heads].mean(axis=1, keepdims=True)
        return task_map.grid(log_sizes)

    return on_grid(task_map.size[None])[0], on_grid(np.abs(nulls.within_layers))


def _alike(task: str, who: str, observed: float, draws: Array) -> Statement:
    expected = float(draws.mean())
    numbers = (
        f"their correlation within the layer is {signed(observed)}, heads in random order within their layers give "
        f"{null_range(draws, 2)}"
    )
    how = "alike" if observed > expected else "unlike each other"
    return Statement(
        (task,),
        f"{who} are {how} for {task}: {numbers}.",
        f"{who} are not shown to be alike or unlike for {task}: {numbers}.",
        value=observed,
        effect=observed - expected,
        observed=observed,
        draws=draws,
        sides=2,
    )


NEIGHBOURS = Kind(
    name="neighbours",
    question="Are neighbouring heads alike?",
    null=WITHIN_LAYERS,
    answer=neighbours,
    obstacle=one_group,
)
KV_GROUPS = Kind(
    name="kv groups",
    question="Are heads alike that share keys and values?",
    null=WITHIN_LAYERS,
    answer=kv_groups,
    obstacle=no_groups_to_compare,
)
