"""Made-up portraits and graphs in the folder of an atlas: more heads, tasks and words than `tests.portraits` has."""

import numpy as np

from headatlas.atlas.portraits import Edge, Graph, Graphs, Node, Portrait, pack, write_graphs, write_portrait
from tests import portraits

TOKENS = [
    "When", " Mary", " and", " John", " went", " to", " the", " store", ",", "\n", "John", " gave", " a", " drink",
    " to", " the", " clerk", ",", " who", " put", " it", " on", " the", " shelf", " behind", " the", " door", ".",
    " Later", " that", " day", " it", " was", " found", " by",
]  # fmt: skip
CHANGED = 10
SURE = {(0, 1): 0.8, (0, -1): -0.9, (2, 3): -0.4}  # interactions of a graph that are told from zero


def write_portraits(atlas, heads, tasks=None, examples=3):
    """A portrait of each of these heads and a graph of each task. The n-th head has rank n in every task."""
    tasks = list(atlas.tasks if tasks is None else tasks)
    for rank, (layer, head) in enumerate(heads, 1):
        write_portrait(atlas.path, portrait(layer, head, tasks, rank, examples))
    write_graphs(atlas.path, Graphs(graphs=[graph(atlas, task) for task in tasks]))


def portrait(layer: int, head: int, tasks, rank: int = 1, examples: int = 3) -> Portrait:
    seen = [
        portraits.in_task(
            task,
            rank=rank,
            total=portraits.number(2 / rank),
            strongest=[_shown(f"{task}-{n}", 3 - 0.3 * n, n) for n in range(examples)],
            weakest=[_shown(f"{task}-{n + examples}", 0.1 * n, n) for n in range(examples)],
        )
        for task in tasks
    ]
    return portraits.portrait(layer, head, tasks=seen)


def graph(atlas, task: str, size: int = 6) -> Graph:
    """The first head supplies the last and stands in for the second; the third supplies the fourth."""
    heads = atlas.shape[1]
    rng = np.random.default_rng([ord(letter) for letter in task])
    nodes = [(int(i // heads), int(i % heads)) for i in sorted(rng.choice(np.prod(atlas.shape), size, replace=False))]
    values = {pair if pair[1] > 0 else (pair[0], size - 1): value for pair, value in SURE.items()}
    edges = [
        Edge(
            first=nodes[i],
            second=nodes[j],
            interaction=portraits.number(values.get((i, j), float(rng.normal(0, 0.04))), 0.1),
            q=0.003 if (i, j) in values else 0.6,
        )
        for i in range(size)
        for j in range(i + 1, size)
    ]
    drawn = [Node(layer=layer, head=head, total=portraits.number(2 / (n + 1))) for n, (layer, head) in enumerate(nodes)]
    return Graph(task=task, metric="margin", baseline="twin", examples=48, nodes=drawn, edges=edges)


def _shown(name: str, effect: float, n: int):
    twin = [" Mary" if i == CHANGED else token for i, token in enumerate(TOKENS)]
    return portraits.shown(
        4.0,
        4.0 - effect,
        id=name,
        prompt=TOKENS,
        twin=twin,
        answer=" John",
        foil=" Mary",
        changed=[CHANGED],
        twin_changed=[CHANGED],
        attention=_attention(CHANGED, n),
        twin_attention=_attention(1, n),
    )


def _attention(key: int, seed: int) -> str:
    """The last token looks most at `key`, others at the first token."""
    weights = np.tril(np.random.default_rng(seed).random((len(TOKENS), len(TOKENS))) ** 4 * 0.1)
    weights[:, 0] += 0.6
    weights[-1, key] += 2.0
    return pack(weights / weights.sum(1, keepdims=True))
