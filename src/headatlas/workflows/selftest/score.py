"""A map beside the truth: what it finds, what it misses, what it gets wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.declarations import MethodInfo, Role
from headatlas.atlas.records import Head
from headatlas.methods.signs import WRONG_SIGNS
from headatlas.planted.record import Score
from headatlas.planted.truth import Truth
from headatlas.stats import LEVEL, Array

SIGNS: dict[str, int] = {"helps": 1, "hurts": -1}


def score_map(atlas: Atlas, method: str, task: str, model: str, truth: Truth) -> Score:
    """The map of one task by one method (the mean of its seeds), compared with the truth."""
    info = atlas.info(method)
    roles, wanted = _asked(atlas, info, task, truth)
    heads = [head for head in roles if roles[head] != "backup" or wanted == {"backup"}]
    values, q = _columns(atlas, method, task)
    called = _called(atlas, info, task, values, q)
    expected = {head: role if role in _sayable(info) else "none" for head, role in roles.items()}
    positive = np.array([roles[head] in wanted for head in heads])
    size = np.array([_size(info, values.get(head, np.nan)) for head in heads])
    return Score(
        method=method,
        model=model,
        task=task,
        looks_for=tuple(sorted(wanted)),
        heads=len(heads),
        positives=int(positive.sum()),
        irrelevant=sum(roles[head] == "none" for head in heads),
        **_ranking(positive, size),
        has_q=bool(q),
        sign_errors=_sign_errors(info, roles, values, called),
        roles_right=None if called is None else sum(called.get(h, "none") == expected[h] for h in heads),
        roles_wrong=None if called is None else sum(called.get(h, "none") != expected[h] for h in heads),
        false_discoveries=None if called is None else sum(called.get(h, "none") != "none" == roles[h] for h in heads),
        backups=sum(role == "backup" for role in roles.values()),
        backups_named=sum(role == "backup" and called.get(h, "none") != "none" for h, role in roles.items())
        if called
        else 0,
        flagged=_flagged(atlas, method, task),
    )


def _asked(atlas: Atlas, info: MethodInfo, task: str, truth: Truth) -> tuple[dict[Head, str], set[str]]:
    """The truth about every head, and the roles of the heads that the primary measure should put first.

    A map that keeps one task and forgets another should put those first that only the other one needs.
    """
    kept, role = truth.roles(task), info.measure(info.primary).role
    forget = atlas.run.settings.methods.get(info.name, {}).get("forget")
    if forget is None:
        return kept, {role} if role else set(SIGNS)
    spared = {head for head, other in truth.roles(forget).items() if other == "helps" and kept[head] != "helps"}
    return {head: "spared" if head in spared else "none" for head in kept}, {"spared"}


def _sayable(info: MethodInfo) -> set[str]:
    """The roles that a method can give to a head."""
    roles = {measure.role for measure in info.measures if measure.role is not None}
    return set(roles) or set(SIGNS)


def _size(info: MethodInfo, value: float) -> float:
    """What ranks a head: its value, or the size of a value with a sign; a head that was not measured comes last."""
    if np.isnan(value):
        return -np.inf
    if info.order == "ascending":
        return -value
    return abs(value) if info.measure(info.primary).role is None else value


def _columns(atlas: Atlas, method: str, task: str) -> tuple[dict[Head, float], dict[Head, float]]:
    """Values and q-values by head; no q-values where the method gives none."""
    rows = atlas.table(task, method)
    heads = list(zip(rows["layer"].tolist(), rows["head"].tolist(), strict=True))
    q = {} if rows["q_value"].isna().all() else dict(zip(heads, rows["q_value"].tolist(), strict=True))
    return dict(zip(heads, rows["value"].tolist(), strict=True)), q


def _called(
    atlas: Atlas, info: MethodInfo, task: str, values: Mapping[Head, float], q: Mapping[Head, float]
) -> dict[Head, Role] | None:
    """The role that a method gives to every head; None where it gives none."""
    by_role = {measure.role: measure.name for measure in info.measures if measure.role is not None}
    if len(by_role) > 1:
        grids = np.stack([atlas.grid(task, info.name, measure) for measure in by_role.values()])
        names = list(by_role)
        return {head: names[int(np.argmax(grids[:, *head]))] for head in values}
    if not q or info.kind == "information":
        return None
    above: Role = info.measure(info.primary).role or "helps"
    below: Role = "none" if info.measure(info.primary).role else "hurts"
    return {head: "none" if not q[head] < LEVEL else above if values[head] > 0 else below for head in values}


def _sign_errors(
    info: MethodInfo, roles: Mapping[Head, str], values: Mapping[Head, float], called: Mapping[Head, str] | None
) -> int | None:
    """None for a method that says nothing of signs: its values are no effects, or none of its roles has a sign."""
    if not _sayable(info) & set(SIGNS) or (info.kind != "importance" and called is None):
        return None
    said = {head: SIGNS.get(role, 0) for head, role in called.items()} if called else dict(values)
    return sum(SIGNS.get(role, 0) * said.get(head, 0) < 0 for head, role in roles.items())


def _ranking(positive: Array, size: Array) -> dict[str, float | None]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    if not positive.any() or positive.all():
        return {"auroc": None, "average_precision": None, "recall": None}
    rank = np.argsort(np.argsort(size, kind="stable"), kind="stable") if np.isinf(size).any() else size
    first = np.argsort(-rank, kind="stable")[: positive.sum()]
    return {
        "auroc": float(roc_auc_score(positive, rank)),
        "average_precision": float(average_precision_score(positive, rank)),
        "recall": float(positive[first].mean()),
    }


def _flagged(atlas: Atlas, method: str, task: str) -> bool | None:
    entries = atlas.diagnostics
    entries = entries[(entries["method"] == method) & (entries["task"] == task) & (entries["metric"] == WRONG_SIGNS)]
    return bool((entries["value"] > 0).any()) if len(entries) else None
