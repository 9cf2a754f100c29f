"""How many heads of a map differ from zero."""

from __future__ import annotations

from headatlas.patterns.finding import Statement
from headatlas.patterns.kind import Kind
from headatlas.patterns.maps import TaskMap
from headatlas.stats import LEVEL
from headatlas.wording import count, head_list, p_value


def no_p_values(task_map: TaskMap) -> str | None:
    return None if task_map.has_p else "the map has no p-values"


def above_null(task_map: TaskMap) -> list[Statement]:
    """Simes' test of the whole map: under the null its p-value is uniform."""
    total, n = int(task_map.above_null.sum()), len(task_map.value)
    heads = task_map.heads_at(task_map.by_size[task_map.above_null[task_map.by_size]])
    verb = "differs" if total == 1 else "differ"
    some = f"{total} of {n} heads {verb} from zero (q < {LEVEL}); largest effects: {head_list(heads, 3)}"
    none = f"no head is shown to differ from zero (smallest q {p_value(task_map.global_p)}, {count(n, 'head')})"
    return [
        Statement(
            (task_map.task,),
            f"{task_map.task}: {some}.",
            f"{task_map.task}: {f'{some}, but not after correction for all maps' if total else none}.",
            value=total,
            effect=total / n,
            p=task_map.global_p,
            heads=heads,
        )
    ]


ABOVE_NULL = Kind(
    name="above null",
    question="Which heads have an effect?",
    null="no head has an effect (Simes' test of the p-values of the map)",
    answer=above_null,
    obstacle=no_p_values,
)
