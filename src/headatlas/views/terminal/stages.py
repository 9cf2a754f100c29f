"""What is said when a stage of a map is done: its time, its strongest sentence, and what is still to come; and when one
of its tests is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.atlas.records import COMPETENT
from headatlas.patterns.functions import head_functions
from headatlas.stats import LEVEL
from headatlas.views.metrics import metric
from headatlas.views.quantities import measure_of
from headatlas.wording import count, elapsed, head_name, p_value, percent, significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.declarations import MethodInfo, TestInfo
    from headatlas.atlas.records import Evidence


def competence_line(atlas: Atlas, seconds: float) -> str:
    table = atlas.competence
    able = table[table["verdict"] == COMPETENT]
    sentence = f"the model can do {len(able)} of {count(len(table), 'task')}"
    if len(able):
        best = able.loc[able["accuracy"].idxmax()]
        sentence += f", best {best.task}: {percent(best.accuracy)} right, {percent(best.chance)} by guessing"
    return _line(atlas, "Competence", seconds, f"{sentence}.")


def method_line(atlas: Atlas, info: MethodInfo, seconds: float) -> str:
    return _line(atlas, info.title, seconds, strongest_sentence(atlas, info.name))


def evidence_line(info: TestInfo, rows: Sequence[Evidence], seconds: float) -> str:
    """Its time, and how many of its comparisons hold, by the metric that comes first."""
    compared = [row for row in rows if row.q_value is not None]
    family = [row for row in compared if row.metric == compared[0].metric]
    sentences = [count(len(rows), "result")]
    for control, other in dict.fromkeys((row.control, row.compared_with) for row in family):
        of_kind = [row.q_value for row in family if (row.control, row.compared_with) == (control, other)]
        hold = sum(q < LEVEL for q in of_kind if q is not None)
        by = metric(family[0].metric).label
        of_all = count(len(of_kind), "comparison")
        sentences.append(f"{control} against {other}: q < {LEVEL} in {hold} of {of_all} by {by}")
    return f"{info.name}, {elapsed(seconds)}: {'; '.join(sentences)}."


def strongest_sentence(atlas: Atlas, method: str) -> str:
    """What a method shows most clearly; empty where it gave neither maps nor descriptions.

    The head with the largest share of a task that it is specifically for, where the method tells that; otherwise the
    head that leads its map by most; of a description the head that fits it best.
    """
    functions = head_functions(atlas, method)
    if len(functions):
        first = functions.iloc[0]
        return (
            f"{first.task}: {head_name(first.layer, first['head'])} holds {percent(first.share)} of the positive "
            f"effects, and is specific to the task (q {p_value(first.q_value)})."
        )
    return _first_in_rank(atlas, method) if method in atlas.methods else _description(atlas, method)


def _first_in_rank(atlas: Atlas, method: str) -> str:
    """Of the first heads of all tasks, the one that stands out most from the others of its map."""
    info, best, lead = atlas.info(method), None, -1.0
    for task in atlas.tasks_of(method):
        rows = atlas.table(task, method)
        sizes = rows["value"].abs()
        ahead = sizes.iloc[0] / sizes.sum() if sizes.sum() > 0 else 0.0
        if ahead > lead:
            best, lead = (task, rows.iloc[0]), ahead
    assert best is not None, "a method with maps has tasks"
    task, first = best
    measure = measure_of(atlas, method, info.primary, task)
    unit = f" {measure.unit}" if measure.unit else ""
    sure = f" (q {p_value(first.q_value)})" if first.q_value == first.q_value else ""
    head = head_name(first.layer, first["head"])
    return f"{task}: {head} comes first, {measure.name.replace('_', ' ')} {significant(first.value)}{unit}{sure}."


def _description(atlas: Atlas, method: str) -> str:
    rows = atlas.diagnostics[(atlas.diagnostics["method"] == method) & atlas.diagnostics["head"].notna()]
    if rows.empty:
        return ""
    first = rows.loc[rows["value"].idxmax()]
    measure = atlas.info(method).measure(first.metric)
    value = percent(first.value) if measure.zero_to_one else significant(first.value)
    return f"{head_name(first.layer, first['head'])}: {measure.meaning or measure.name} ({value})."


def _line(atlas: Atlas, title: str, seconds: float, sentence: str) -> str:
    return " ".join(part for part in (f"{title}, {elapsed(seconds)}.", sentence[:1].upper() + sentence[1:],
                                      atlas.run.still_to_come) if part)  # fmt: skip
