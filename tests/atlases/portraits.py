"""Made-up portraits of heads, and graphs: structured random numbers for everything that the page shows of a head."""

import numpy as np

from headatlas.atlas.portraits import (
    Circuit,
    Edge,
    Graph,
    Graphs,
    InTask,
    Neutral,
    Node,
    Number,
    Pair,
    Partner,
    Portrait,
    Shown,
    Weight,
    pack,
    write_graphs,
    write_portrait,
)
from headatlas.wording import head_name

WORDS = (
    (
        "When Mary and John went to the store,\n John gave a drink to the clerk, who thanked him and put it on the shelf "
        "behind the door. Later that day Mary asked who had it, and the answer was"
    )
    .replace(",", " ,")
    .replace(".", " .")
    .split(" ")
)
TOKENS = [word if n == 0 else f" {word}" for n, word in enumerate(WORDS)]
KINDS = ("the first token", "the token before", "the same token", "the token after an earlier one like it")


def portrait(layer, head, tasks, seed=0, examples=3):
    """A portrait with all parts, in these tasks; its rank in the n-th task is `head + n`, from 1."""
    rng = np.random.default_rng([seed, layer, head])
    return Portrait(
        layer=layer,
        head=head,
        tasks=[_in_task(rng, task, layer, head, rank=head + n + 1, examples=examples) for n, task in enumerate(tasks)],
        circuit=Circuit(
            pairs=[
                Pair(read=f" {word}", written=f" {word.upper()}", value=9.0 - n) for n, word in enumerate(WORDS[:8])
            ],
            copying=0.82,
            itself=0.37,
            tokens=5000,
        ),
        neutral=Neutral(texts=20, lost=_number(rng, 0.01), looks=_looks(rng)),
        unavailable=[],
    )


def write_portraits(atlas, heads, tasks=None, **more):
    """Portraits of these heads and a graph of each task, in the folder of an atlas."""
    tasks = list(atlas.tasks if tasks is None else tasks)
    for layer, head in heads:
        write_portrait(atlas.path, portrait(layer, head, tasks, **more))
    write_graphs(atlas.path, Graphs(graphs=[graph(atlas, task) for task in tasks]))


def graph(atlas, task, size=6):
    """The first heads of a task; the first supplies the last and stands in for the second."""
    layers, heads = atlas.shape
    rng = np.random.default_rng([ord(letter) for letter in task])
    picked = rng.choice(layers * heads, size=size, replace=False)
    nodes = sorted((int(i // heads), int(i % heads)) for i in picked)
    totals = [_number(rng, 2.0 / (n + 1)) for n in range(size)]
    edges = []
    for i, first in enumerate(nodes):
        for j, second in enumerate(nodes[i + 1 :], i + 1):
            sure = (i, j) in {(0, 1), (0, size - 1), (2, 3)}
            value = {(0, 1): 0.8, (0, size - 1): -0.9, (2, 3): -0.4}.get((i, j), float(rng.normal(0, 0.04)))
            edges.append(Edge(first=first, second=second, interaction=_around(value), q=0.003 if sure else 0.6))
    return Graph(
        task=task,
        metric="margin",
        baseline="twin",
        examples=48,
        nodes=[Node(layer=layer, head=head, total=total) for (layer, head), total in zip(nodes, totals, strict=True)],
        edges=edges,
    )


def _in_task(rng, task, layer, head, rank, examples):
    partner = lambda other, value, q: Partner(layer=other, head=1, interaction=_around(value), q=q)  # noqa: E731
    return InTask(
        task=task,
        method="attribute",
        rank=rank,
        metric="margin",
        baseline="twin",
        examples=48,
        groups=24,
        margin=_around(4.2),
        total=_around(2.0 / rank),
        held=_around(2.6 / rank),
        direct=_around(1.1 / rank),
        specific=_around(0.2),
        specific_q=0.004,
        looks=_looks(rng),
        compared_with=[head_name(layer + 1, 1), head_name(max(layer - 1, 0), 1), head_name(layer + 2, 1)],
        backups=[partner(layer + 1, 0.7, 0.002)],
        suppliers=[partner(max(layer - 1, 0), -0.5, 0.01)] if layer else [],
        strongest=[_shown(rng, f"{task}-{n}", 3.0 - 0.3 * n) for n in range(examples)],
        weakest=[_shown(rng, f"{task}-{n + examples}", 0.1 * n) for n in range(examples)],
    )


def _shown(rng, name, effect):
    changed = 13
    twin = [" Mary" if n == changed else token for n, token in enumerate(TOKENS)]
    return Shown(
        id=name,
        prompt=TOKENS,
        answer=" John",
        foil=" Mary",
        changed=[changed],
        twin=twin,
        twin_changed=[changed],
        margin=4.0,
        without=4.0 - effect,
        attention=pack(_attention(rng, changed)),
        twin_attention=pack(_attention(rng, 1)),
        promoted=[
            Weight(text=text, value=2.0 - 0.3 * n) for n, text in enumerate((" John", " Johnny", "\n", " he", " "))
        ],
        suppressed=[
            Weight(text=text, value=-1.2 + 0.2 * n) for n, text in enumerate((" Mary", " she", " her", "ary", " it"))
        ],
    )


def _attention(rng, key):
    """The last query looks at `key`, the others mostly at the first token."""
    size = len(TOKENS)
    weights = np.tril(rng.random((size, size)) ** 4 * 0.1)
    weights[:, 0] += 0.6
    weights[-1, key] += 2.0
    return weights / weights.sum(1, keepdims=True)


def _looks(rng):
    return [
        Weight(text=kind, value=round(float(value), 3))
        for kind, value in zip(KINDS, rng.dirichlet(np.ones(4)), strict=True)
    ]


def _around(value):
    return Number(value=value, low=value - 0.2, high=value + 0.2, p=0.01)


def _number(rng, scale):
    return _around(float(abs(rng.normal(scale, scale / 4))))
