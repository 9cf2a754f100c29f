"""Heads by name, as commands take them: L17H4,L3H2 or top:16:Retrieval."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.records import Head
from headatlas.errors import UsageError
from headatlas.stats import Array
from headatlas.wording import head_name

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

FORMS = "L17H4, L17 (all heads of a layer), top:16:TASK, lowest:16:TASK or weakest:1 (groups of each layer)"


def choose_heads(
    wanted: str | Iterable[Head], shape: tuple[int, int], kv_heads: int, atlas: Atlas | None = None,
    method: str | None = None,
) -> tuple[Head, ...]:  # fmt: skip
    """The heads that a text names, each once, in its order; heads that are given as such are checked.

    `top:16:TASK` are the first heads of a map of the atlas, `lowest:16:TASK` those whose values are smallest in size,
    `weakest:1` in every layer the group of heads sharing keys and values that matters least, over all tasks.
    """
    if isinstance(wanted, str):
        parts = [part.strip() for part in wanted.split(",")]
        chosen = [head for part in parts for head in _read(part, shape, kv_heads, atlas, method)]
    else:
        chosen = [(int(layer), int(head)) for layer, head in wanted]
    for layer, head in chosen:
        if not (0 <= layer < shape[0] and 0 <= head < shape[1]):
            raise UsageError(
                f"There is no head {head_name(layer, head)}: the model has {shape[0]} layers of {shape[1]} heads, "
                f"L0H0 to {head_name(shape[0] - 1, shape[1] - 1)}."
            )
    return tuple(dict.fromkeys(chosen))


def read_scaled(text: str) -> tuple[str, float]:
    """Heads and their factor, from HEADS=FACTOR.

    >>> read_scaled("L3H1,L7H0=0.5")
    ('L3H1,L7H0', 0.5)
    """
    heads, _, factor = text.rpartition("=")
    try:
        number = float(factor)
    except ValueError:
        number = float("nan")
    if not heads or not np.isfinite(number):
        raise UsageError(f"`scale` {text} was given; write HEADS=FACTOR, for instance L3H1,L7H0=0.5.")
    return heads, number


def _read(part: str, shape: tuple[int, int], kv_heads: int, atlas: Atlas | None, method: str | None) -> Sequence[Head]:
    if match := re.fullmatch(r"[Ll](\d+)(?:[Hh](\d+))?", part):
        layer = int(match[1])
        return [(layer, int(match[2]))] if match[2] else [(layer, head) for head in range(shape[1])]
    kind, *rest = part.split(":")
    fits = (kind in ("top", "lowest") and len(rest) in (1, 2)) or (kind == "weakest" and len(rest) == 1)
    if not fits or not rest[0].isdigit() or not int(rest[0]):
        raise UsageError(f"{part!r} names no heads. Write {FORMS}, several separated by commas.")
    if atlas is None:
        raise UsageError(f"{part!r} asks for heads of a map; give the folder of an atlas.")
    if kind == "weakest":
        return _weakest_groups(atlas, method, kv_heads, int(rest[0]))
    task = atlas.choose_task(rest[1] if len(rest) == 2 else None)
    ranked = atlas.ranking(task, method)
    if kind == "lowest":
        grid = atlas.grid(task, method)
        ranked = sorted(ranked, key=lambda head: abs(grid[head]))
    if int(rest[0]) > len(ranked):
        raise UsageError(f"{part!r} asks for {rest[0]} heads; the map of {task} has {len(ranked)}.")
    return ranked[: int(rest[0])]


def _weakest_groups(atlas: Atlas, method: str | None, kv_heads: int, count: int) -> list[Head]:
    """Of each layer the heads of the `count` groups that matter least: sizes of values, each task as a share of its
    sum, added over tasks."""
    if count >= kv_heads:
        raise UsageError(f"weakest:{count} leaves no heads: each layer has {kv_heads} groups with keys of their own.")
    method = atlas.choose_method(method)
    weights = sum(_shares(atlas.grid(task, method)) for task in atlas.tasks_of(method))
    size = atlas.shape[1] // kv_heads
    by_group = np.asarray(weights).reshape(atlas.shape[0], kv_heads, size).sum(-1)
    weakest = np.argsort(by_group, axis=1, kind="stable")[:, :count]
    return [
        (layer, int(group) * size + member)
        for layer, groups in enumerate(weakest)
        for group in sorted(groups)
        for member in range(size)
    ]


def _shares(grid: Array) -> Array:
    sizes = np.abs(np.nan_to_num(grid))
    shares: Array = sizes / max(float(sizes.sum()), 1e-12)
    return shares
