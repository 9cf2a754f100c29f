"""Which heads do independent causal methods support, and what does each of them say?

A method takes part by its declaration: those of importance, and those that declare a rule of `support`. Probes have no
say: what can be read from a head need not be used. Independent means that another way of measuring or other examples
stand behind the number (`evidence_from`); methods that rest on the same count once. Their errors are not proven to be
independent, so no joint p-value is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from headatlas.atlas.declarations import MethodInfo, Support
from headatlas.errors import HeadAtlasError
from headatlas.stats import LEVEL
from headatlas.wording import count, percent

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.records import Head

FEWEST = 2  # methods that must support a head
FIRST = 0.05  # share of the heads that count as first, where a method gives no p
ALWAYS = 0.5  # above this a role is held


@dataclass(frozen=True)
class Witness:
    """What one method says about the heads of a task.

    `heads` is indexed by (layer, head) and has `rank`, `value`, `q_value` (missing where there is none) and `supports`.
    """

    info: MethodInfo
    rule: Support
    heads: pd.DataFrame
    seeds: int
    doubt: str | None = None  # why its map is not to be read; it then supports no head

    @property
    def evidence(self) -> str:
        """What the numbers rest on; its name for a method that does not say."""
        return self.info.evidence_from or self.info.name

    @property
    def criterion(self) -> str:
        """The rule in words."""
        if self.doubt:
            return f"supports no head: {self.doubt}"
        in_seeds = f" in all {self.seeds} seeds" if self.seeds > 1 else ""
        if self.rule == "significant":
            side = "above" if self.info.order == "descending" else "below"
            return f"q below {LEVEL:g}, {self.info.primary} {side} zero{in_seeds}"
        if self.rule == "always":
            return f"{self.info.primary} above {ALWAYS:g}{in_seeds}"
        first = count(_first(len(self.heads)), "head")
        return f"among its first {first}, {percent(FIRST, 0)} of those measured (estimate, no p)"

    @cached_property
    def supported(self) -> set[Head]:
        return set(self.heads.index[self.heads["supports"]])


@dataclass(frozen=True)
class Consensus:
    """The heads of a task that at least two independent methods support.

    `by_chance` is how many heads that would be if every method had picked as many heads, but at random.
    """

    task: str
    witnesses: tuple[Witness, ...]
    heads: tuple[Head, ...]  # most methods first, then by the rank of the atlas's default method
    by_chance: float

    def supporters(self, head: Head) -> list[str]:
        """The methods that support a head, by name."""
        return [witness.info.name for witness in self.witnesses if head in witness.supported]

    def rows(self, k: int | None = None) -> pd.DataFrame:
        """One row per head: `rank`, `layer`, `head`, how many independent `methods` support it, and for every method
        its value, its rank, its q (where it has one) and whether it supports the head."""
        rows = []
        for rank, head in enumerate(self.heads[:k], start=1):
            row: dict[str, Any] = {
                "rank": rank,
                "layer": head[0],
                "head": head[1],
                "methods": _independent(self.witnesses, head),
            }
            for witness in self.witnesses:
                said = witness.heads.loc[head] if head in witness.heads.index else dict.fromkeys(witness.heads.columns)
                name = witness.info.name
                row |= {name: said["value"], f"{name}_rank": said["rank"]}
                row |= {f"{name}_q": said["q_value"]} if witness.heads["q_value"].notna().any() else {}
                row[f"{name}_supports"] = bool(said["supports"])
            rows.append(row)
        return pd.DataFrame(rows)


def find_consensus(atlas: Atlas, task: str | None = None) -> Consensus:
    """What the causal methods of an atlas agree on for one task; refused where fewer than two have mapped it."""
    task = atlas.choose_task(task)
    witnesses = tuple(_witness(atlas, task, name) for name in causal_methods(atlas) if task in atlas.tasks_of(name))
    if len({witness.evidence for witness in witnesses}) < FEWEST:
        raise _too_few([witness.info.name for witness in witnesses], f"{task!r} is mapped by")
    order = {head: rank for rank, head in enumerate(_default_ranking(atlas, task))}
    support = {head: _independent(witnesses, head) for head in set().union(*(w.supported for w in witnesses))}
    agreed = [head for head, methods in support.items() if methods >= FEWEST]
    agreed.sort(key=lambda head: (-support[head], order.get(head, len(order)), head))
    return Consensus(task, witnesses, tuple(agreed), _by_chance(witnesses, atlas.shape[0] * atlas.shape[1]))


def consensus_tasks(atlas: Atlas) -> list[str]:
    """The tasks that at least two independent causal methods have mapped; refused where there is none."""
    causal = causal_methods(atlas)
    evidence = {name: atlas.info(name).evidence_from or name for name in causal}
    mapped = {task: {evidence[name] for name in causal if task in atlas.tasks_of(name)} for task in atlas.tasks}
    tasks = [task for task, rests_on in mapped.items() if len(rests_on) >= FEWEST]
    if not tasks:
        raise _too_few(causal, "this atlas has")
    return tasks


def causal_methods(atlas: Atlas) -> list[str]:
    """The methods of an atlas that have a say: those of importance, and those that declare a rule of support."""
    infos = {name: atlas.info(name) for name in atlas.methods}
    return [name for name, info in infos.items() if info.kind == "importance" or info.support is not None]


def _too_few(methods: list[str], where: str) -> HeadAtlasError:
    return HeadAtlasError(
        f"A consensus needs at least {FEWEST} independent causal methods; {where} {', '.join(methods) or 'none'}. Map "
        "with more methods, such as attribute and ablate."
    )


def _witness(atlas: Atlas, task: str, method: str) -> Witness:
    info = atlas.info(method)
    rows = atlas.table(task, method).set_index(["layer", "head"])
    scores = atlas.rows_of(method, info.primary, task)
    by_head = scores.groupby(["layer", "head"])
    # A head is supported if every seed supports it; with a q missing in any seed nothing is known.
    largest_q = by_head["q_value"].max().where(by_head["q_value"].count() == by_head.size())
    rule: Support = info.support or ("significant" if largest_q.notna().any() else "first")
    sign = -1 if info.order == "ascending" else 1
    least, most = by_head["value"].min(), by_head["value"].max()
    if rule == "significant":
        supports = (largest_q < LEVEL) & (sign * least > 0) & (sign * most > 0)
    elif rule == "always":
        supports = least > ALWAYS
    else:
        supports = (sign * rows["value"] > 0) & (rows["rank"] <= _first(len(rows)))
    doubt = atlas.run.doubts.get(method, {}).get(task)
    if doubt:
        supports &= False
    heads = pd.DataFrame({"rank": rows["rank"], "value": rows["value"], "q_value": largest_q, "supports": supports})
    return Witness(info, rule, heads, scores["seed"].nunique(), doubt)


def _first(heads: int) -> int:
    """How many heads count as first: a fixed share, which no shape of a curve can stretch."""
    return max(1, ceil(FIRST * heads))


def _independent(witnesses: Iterable[Witness], head: Head) -> int:
    """How many independent methods support a head."""
    return len({witness.evidence for witness in witnesses if head in witness.supported})


def _by_chance(witnesses: Iterable[Witness], heads: int) -> float:
    """The expected number of heads with two or more votes, if each source of evidence picked its number at random."""
    picked: dict[str, set[Head]] = {}
    for witness in witnesses:
        picked[witness.evidence] = picked.get(witness.evidence, set()) | witness.supported
    votes = np.array([1.0])  # chance of 0, 1, 2 ... votes
    for supported in picked.values():
        share = len(supported) / heads
        votes = np.convolve(votes, [1 - share, share])
    return float(heads * votes[FEWEST:].sum())


def _default_ranking(atlas: Atlas, task: str) -> list[Head]:
    """By the atlas's default method, or the first that has mapped the task."""
    default = atlas.choose_method()
    able = [name for name in atlas.methods if task in atlas.tasks_of(name)]
    return atlas.ranking(task, default if default in able else able[0])
