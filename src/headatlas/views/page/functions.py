"""The atlas picture of the page: what every head is specifically for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headatlas.patterns.functions import (
    SHARE,
    function_counts,
    head_functions,
    specific_method,
    unmeasured_heads,
)
from headatlas.stats import LEVEL
from headatlas.views.functions import depths, function_marks
from headatlas.views.page.encoding import number
from headatlas.views.quantities import measure_of
from headatlas.wording import count

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def describe_marks(atlases: Sequence[Atlas]) -> list[dict[str, str]]:
    """Every function of the atlases with its letters and hues: the same on both sides of a page of two."""
    methods = [(atlas, specific_method(atlas)) for atlas in atlases]
    tasks = dict.fromkeys(task for atlas, method in methods if method for task in atlas.tasks_of(method))
    return [{"task": task, **mark._asdict()} for task, mark in function_marks(list(tasks)).items()]


def describe_functions(atlas: Atlas, tasks: Sequence[str]) -> dict[str, Any] | None:
    """The functions of every head that has any, as indices of `tasks`; null where no method tells how specific it is.

    Each function of a head is [task, depth of its colour, share, low, high, specific, q].
    """
    method = specific_method(atlas)
    if method is None:
        return None
    functions = head_functions(atlas, method)
    counts = function_counts(functions, atlas.tasks_of(method))
    layers, heads = atlas.shape
    missing = [layer * heads + head for layer, head in unmeasured_heads(atlas, method)]
    functions["depth"] = depths(functions["share"].to_numpy(dtype=float))
    by_head = [
        [int(layer * heads + head), [_function(row, tasks) for row in rows.itertuples()]]
        for (layer, head), rows in functions.groupby(["layer", "head"])
    ]
    per_layer = functions.drop_duplicates(["layer", "head"])["layer"].value_counts()
    nothing = layers * heads - len(missing) - len(by_head)
    return {
        "method": method,
        "share": measure_of(atlas, method, SHARE).label,
        "sentence": _sentence(len(by_head), nothing, len(missing)),
        "counts": [(tasks.index(task), of_task) for task, of_task in counts.items()],
        "nothing": nothing,
        "unmeasured": missing,
        "heads": by_head,
        "layers": [int(per_layer.get(layer, 0)) for layer in range(layers)],
        "shares": [number(functions["share"].min()), number(functions["share"].max())] if by_head else None,
    }


def _function(row: Any, tasks: Sequence[str]) -> list[Any]:
    numbers = (row.depth, row.share, row.share_low, row.share_high, row.specific, row.q_value)
    return [tasks.index(row.task), *(number(value) for value in numbers)]


def _sentence(shown: int, nothing: int, missing: int) -> str:
    """How many heads have a function."""
    if not shown:
        first = f"No head is shown to be for one task more than for the others: no q is below {LEVEL}"
    else:
        have = f"{count(shown, 'head')} {'has' if shown == 1 else 'have'}"
        first = f"{have} one function or more, for {nothing} nothing is shown"
    return f"{first}; {missing} {'was' if missing == 1 else 'were'} not measured." if missing else f"{first}."
