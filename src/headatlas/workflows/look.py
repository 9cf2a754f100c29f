"""`headatlas.look`: why single heads of an atlas matter, measured on held-out examples and written as portraits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.heads import choose_heads
from headatlas.atlas.lock import locked
from headatlas.atlas.portraits import Graph, Graphs, Number, Portrait, read_portrait, write_graphs, write_portrait
from headatlas.atlas.portraits import portraits as portrait_files
from headatlas.atlas.records import Head
from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.microscope.portrait import portraits
from headatlas.microscope.view import TaskView, known, number
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.crew import Crew
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import TaskQuantity, paired_items, plan_quantity
from headatlas.run.settings import TWIN_BASELINES
from headatlas.suites.neutral.generate import TASK as NEUTRAL
from headatlas.suites.suite import HELD_OUT, Suite
from headatlas.wording import count, elapsed, head_name
from headatlas.workflows.held_out import as_mapped, held_out_examples, model_of, suite_of
from headatlas.workflows.presets import DEFAULT, choose_settings
from headatlas.workflows.publish import publish

TOP, LIMIT = 4, 24  # heads of each task, and held-out examples
SPECIFIC = "specific"  # a measure of some maps

Wanted = Mapping[Head, list[str]]  # heads, with the tasks in which they are looked at


def look(
    atlas: Atlas | str | Path,
    heads: str | Iterable[Head] | None = None,
    model: HeadModel | str | Path | None = None,
    suite: Suite | None = None,
    *,
    task: str | None = None,
    top: int = TOP,
    limit: int = LIMIT,
    method: str | None = None,
    load_options: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> dict[Head, Portrait]:
    """Measure why heads matter, on held-out examples of their tasks, and write it to `heads/` of the atlas.

    `heads` are names such as "L17H4,L3H2"; without them the `top` strongest heads of every task whose map may be read.
    A head is looked at in the tasks in whose `top` it is, else in the one where it ranks best; or in `task`. What is
    known of it in other tasks stays. The model and the suite are those of the atlas unless given.
    """
    began = time.monotonic()
    reporter = reporter or Reporter()
    atlas = atlas if isinstance(atlas, Atlas) else Atlas(atlas)
    if atlas.run.pending:
        raise HeadAtlasError(
            f"The atlas {atlas.path} is not finished. {atlas.run.still_to_come} Continue it with: "
            f"{atlas.run.asked.command or 'headatlas.map'}"
        )
    method = atlas.choose_method(method)
    settings = replace(choose_settings(DEFAULT, atlas.shape, limit=limit), chains=0)
    wanted = heads_and_tasks(atlas, heads, method, task, top)
    suite = suite_of(atlas, suite)
    splits, _ = held_out_examples(atlas, method, suite, settings)
    model = model_of(atlas, model, load_options or {}, reporter)
    tasks = {name for names in wanted.values() for name in names}
    plain = {split: part.of(NEUTRAL) for split, part in splits.items()}
    mapped = {split: part.keep(lambda example: example.task in tasks) for split, part in splits.items()}
    with locked(atlas.path):
        encoder = Encoder(model, atlas.run.settings.chat)
        context = RunContext(model, mapped, Runner(atlas.path / "cells", reporter, crew=Crew.of(model)), encoder)
        context = context.with_splits(as_mapped(atlas, context))
        order = [name for name in atlas.tasks_of(method) if name in tasks]
        views = [_view(atlas, method, context, name, wanted, limit) for name in order]
        painted, graphs = portraits(context, views, [*wanted], plain)
        result = {(portrait.layer, portrait.head): _with_other_tasks(atlas, portrait) for portrait in painted}
        for portrait in result.values():
            write_portrait(atlas.path, portrait)
        write_graphs(atlas.path, _with_other_graphs(atlas, graphs))
    reporter.say(f"{count(len(result), 'head')} in {elapsed(time.monotonic() - began)}, in {atlas.path / 'heads'}.")
    publish(Atlas(atlas.path), reporter, sources=("graphs",))
    return result


def heads_and_tasks(
    atlas: Atlas, heads: str | Iterable[Head] | None, method: str, task: str | None, top: int
) -> dict[Head, list[str]]:
    """Which heads are looked at in which tasks; a sentence that says what is wrong where that cannot be."""
    if top < 1:
        raise UsageError(f"`top` {top} was asked for; it must be at least 1.")
    chosen = () if heads is None else choose_heads(heads, atlas.shape, atlas.run.model.kv_heads, atlas, method)
    tasks = _tasks(atlas, method, task)
    rankings = {name: atlas.ranking(name, method) for name in tasks}
    wanted: dict[Head, list[str]] = {}
    if heads is None:
        for name, ranking in rankings.items():
            for head in ranking[:top]:
                wanted.setdefault(head, []).append(name)
        return wanted
    for head in chosen:
        ranks = {name: ranking.index(head) for name, ranking in rankings.items() if head in ranking}
        if not ranks:
            raise UsageError(f"The maps of {method} have no {head_name(*head)}: it was not measured.")
        best = min(ranks, key=lambda name: ranks[name])
        wanted[head] = [name for name, rank in ranks.items() if rank < top or task is not None] or [best]
    return wanted


def _tasks(atlas: Atlas, method: str, task: str | None) -> list[str]:
    """The task asked for, or all of the method whose maps may be read."""
    mapped = atlas.tasks_of(method)
    if task is not None:
        name = atlas.choose_task(task)
        if name not in mapped:
            raise unknown(f"task mapped by {method}", name, mapped)
        return [name]
    if readable := [name for name in mapped if atlas.why_not_read(name, method) is None]:
        return readable
    reasons = "; ".join(f"{name}: {atlas.why_not_read(name, method)}" for name in mapped)
    raise HeadAtlasError(f"No map of {method} is to be read ({reasons}). To look at heads all the same, give `task`.")


def _view(atlas: Atlas, method: str, context: RunContext, task: str, wanted: Wanted, limit: int) -> TaskView:
    return TaskView(
        method,
        _quantity(atlas, method, context, task, limit),
        atlas.ranking(task, method),
        tuple(sorted(head for head, tasks in wanted.items() if task in tasks)),
        _specific(atlas, task, method),
    )


def _quantity(atlas: Atlas, method: str, context: RunContext, task: str, limit: int) -> TaskQuantity:
    """What the map was made from, on held-out examples: at most `limit`, from as many groups as possible."""
    how, recorded = atlas.run.settings.methods.get(method, {}), atlas.run.quantities.get(method, {}).get(task)
    metric, baseline = (recorded.metric, recorded.baseline) if recorded else (how.get("metric"), how.get("baseline"))
    only = context.with_splits({split: part.only([task]) for split, part in context.splits.items()})
    seed = how.get("seed", 0)
    if baseline in TWIN_BASELINES:
        paired = paired_items(only, task, HELD_OUT, baseline, metric, seed)
        if len({item.example.group for item in paired}) < 2:  # too few twins among held-out examples
            metric = baseline = None
    quantity = plan_quantity(only, task, HELD_OUT, metric, baseline, seed)
    examples = Suite(task, tuple(item.example for item in quantity.items)).limit(limit, atlas.run.settings.split_seed)
    chosen = {example.id for example in examples.examples}
    return quantity.only([i for i, item in enumerate(quantity.items) if item.example.id in chosen])


def _specific(atlas: Atlas, task: str, method: str) -> dict[Head, tuple[Number, float | None]]:
    """That measure of a map, with q-values; empty where the method does not have it."""
    scores = atlas.scores
    if not ((scores["method"] == method) & (scores["task"] == task) & (scores["measure"] == SPECIFIC)).any():
        return {}
    rows = atlas.table(task, method, SPECIFIC).itertuples()
    return {
        (row.layer, row.head): (number(row.value, row.low, row.high, row.p_value), known(row.q_value)) for row in rows
    }


def _with_other_tasks(atlas: Atlas, portrait: Portrait) -> Portrait:
    """The portrait with what an earlier one says of other tasks, in the order of the atlas."""
    path = portrait_files(atlas.path).get((portrait.layer, portrait.head))
    entries = {entry.task: entry for entry in read_portrait(path).tasks} if path else {}
    entries |= {entry.task: entry for entry in portrait.tasks}
    return portrait.model_copy(update={"tasks": [entries[name] for name in atlas.tasks if name in entries]})


def _with_other_graphs(atlas: Atlas, graphs: Iterable[Graph]) -> Graphs:
    by_task = {graph.task: graph for graph in [*atlas.graphs, *graphs]}
    return Graphs(graphs=[by_task[name] for name in atlas.tasks if name in by_task])
