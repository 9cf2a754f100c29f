"""What is said when a stage of a map is done: its time, its strongest sentence, and what is still to come; and when one
of its tests is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.atlas.records import COMPETENT
from headatlas.patterns.consensus import ALWAYS
from headatlas.patterns.functions import head_functions
from headatlas.stats import LEVEL
from headatlas.views.metrics import metric
from headatlas.views.notes import lead_of
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

    What a note puts first, such as what a race has settled; else the head with the largest share of a task that it is
    specifically for, where the method tells that; else the head that leads its map by most, of those that differ from
    zero where the method tests that; of several fits what they agree on; of a description the head that fits it best.
    """
    if lead := lead_of(atlas, method):
        return lead
    functions = head_functions(atlas, method)
    if len(functions):
        first = functions.iloc[0]
        return (
            f"{first.task}: {head_name(first.layer, first['head'])} holds {percent(first.share)} of the positive "
            f"effects, and is specific to the task (q {p_value(first.q_value)})."
        )
    if method not in atlas.methods:
        return _description(atlas, method)
    return _fits(atlas, method) if atlas.info(method).support == "always" else _first_in_rank(atlas, method)


def _fits(atlas: Atlas, method: str) -> str:
    """Of the task whose fits agree most: how many heads hold the primary role in all of them."""
    info, best = atlas.info(method), None
    for task in atlas.tasks_of(method):
        rows = atlas.table(task, method)
        every, some = int((rows["least"] > ALWAYS).sum()), int((rows["most"] > ALWAYS).sum())
        agreement = every / max(some, 1)
        if best is None or agreement > best[0]:
            best = agreement, task, every, some, len(rows)
    assert best is not None, "a method with maps has tasks"
    _, task, every, some, heads = best
    several = f", {some} in some" if some > every else ""
    doubt = atlas.run.doubts.get(method, {}).get(task)
    unread = f"; {doubt}, so this is not to be read" if doubt else ""
    have = f"{every} of {count(heads, 'head')} {'has' if every == 1 else 'have'}"
    return f"{task}: {have} {info.primary.replace('_', ' ')} above {ALWAYS} in every fit{several}{unread}."


def _first_in_rank(atlas: Atlas, method: str) -> str:
    """Of the first heads of all tasks, the one that stands out most from the others of its map. Where there are q, the
    first of those that differ from zero; if none does, that is what is said."""
    tables = {task: atlas.table(task, method) for task in atlas.tasks_of(method)}
    tested = any(rows["q_value"].notna().any() for rows in tables.values())
    sure = {task: rows[rows["q_value"] < LEVEL] for task, rows in tables.items()} if tested else tables
    none_is_sure = not any(len(rows) for rows in sure.values())
    best, lead = None, -1.0
    for task, rows in (tables if none_is_sure else sure).items():
        sizes = tables[task]["value"].abs()
        ahead = rows["value"].abs().iloc[0] / sizes.sum() if len(rows) and sizes.sum() > 0 else 0.0
        if len(rows) and ahead > lead:
            best, lead = (task, rows.iloc[0]), ahead
    assert best is not None, "a method with maps has tasks with heads"
    task, first = best
    measure = measure_of(atlas, method, atlas.info(method).primary, task)
    unit = f" {measure.unit}" if measure.unit else ""
    value = f"{measure.name.replace('_', ' ')} {significant(first.value)}{unit}"
    head = head_name(first.layer, first["head"])
    if tested and none_is_sure:
        return f"no head differs from zero with q < {LEVEL}; first is {head} for {task}, {value}."
    if not tested:
        return f"{task}: {head} comes first, {value}."
    others = len(sure[task])
    which = f"comes first of {others} heads that differ" if others > 1 else "is the one head that differs"
    return f"{task}: {head} {which} from zero, {value} (q {p_value(first.q_value)})."


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
