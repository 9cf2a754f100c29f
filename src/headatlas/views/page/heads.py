"""Portraits of heads for the page: in the page as far as they fit, the others fetched from a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headatlas.atlas.portraits import Graph, InTask, Portrait, portraits, read_graphs, read_portrait
from headatlas.views.metrics import metric
from headatlas.views.page.encoding import as_json, plain
from headatlas.views.portrait import routes, sentence
from headatlas.views.quantities import BASELINES

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

HEADS_BYTES = 3_000_000  # of all portraits of a page; without them, the page of a usual model has about one million
COMMON = ("circuit", "neutral", "unavailable")  # what a portrait says of a head whatever the task


def describe_heads(atlas: Atlas, most: int = HEADS_BYTES) -> list[dict[str, Any]]:
    """Every head that has a portrait, with a sentence for each of its tasks.

    All else that is known of a head in a task is added as long as the whole stays below `most` bytes: first of the
    strongest head of each task, then of the second, and so on. A task without it is marked as `elsewhere`.
    """
    layers, heads = atlas.shape
    read = [read_portrait(path) for (layer, head), path in portraits(atlas.path).items() if (layer, head) < (layers, 0)]
    read = [portrait for portrait in read if portrait.head < heads]
    described = [_outline(portrait, heads) for portrait in read]
    spent = sum(len(as_json(one)) for one in described)
    for portrait, n, outline in _strongest_first(read, described, atlas.tasks):
        common = {} if outline.keys() >= set(COMMON) else {name: _plain(getattr(portrait, name)) for name in COMMON}
        whole = _in_task(portrait, portrait.tasks[n]) | _plain(portrait.tasks[n])
        spent += len(as_json([common, whole]))
        if spent > most:
            break
        outline.update(common)
        outline["tasks"][n] = whole
    return described


def describe_graphs(atlas: Atlas) -> list[dict[str, Any]]:
    """How the strongest heads of each task depend on each other."""
    return [{**_plain(graph), "unit": _unit(graph)} for graph in read_graphs(atlas.path)]


def _unit(measured: InTask | Graph) -> str:
    return f"nats of {metric(measured.metric).label}, against {BASELINES.get(measured.baseline, measured.baseline)}"


def _outline(portrait: Portrait, heads: int) -> dict[str, Any]:
    tasks = [{**_in_task(portrait, seen), "elsewhere": True} for seen in portrait.tasks]
    return {"index": portrait.layer * heads + portrait.head, "tasks": tasks}


def _in_task(portrait: Portrait, seen: InTask) -> dict[str, Any]:
    """What Python puts into words and adds up, which a portrait that is fetched does not have."""
    ways = [[way, plain(value)] for way, value in routes(seen).items()]
    return {
        "task": seen.task,
        "rank": seen.rank,
        "sentence": sentence(portrait, seen),
        "routes": ways,
        "unit": _unit(seen),
    }


def _strongest_first(
    read: Sequence[Portrait], described: Sequence[dict[str, Any]], tasks: Sequence[str]
) -> list[tuple[Portrait, int, dict[str, Any]]]:
    """Every portrait with the number of one of its tasks, in the order in which they go into the page."""
    order = {task: n for n, task in enumerate(tasks)}
    every = [
        ((seen.rank, order.get(seen.task, len(order)), i), (portrait, n, described[i]))
        for i, portrait in enumerate(read)
        for n, seen in enumerate(portrait.tasks)
    ]
    return [entry for _, entry in sorted(every, key=lambda pair: pair[0])]


def _plain(value: Any) -> Any:
    """A record as JSON, numbers rounded."""
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return plain(value)
