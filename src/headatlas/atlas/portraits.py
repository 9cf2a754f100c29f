"""Portraits of heads as typed records: what `headatlas head` measured of one head, in `heads/` of an atlas."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from headatlas.atlas.run_record import Record
from headatlas.errors import HeadAtlasError
from headatlas.files import remove, write_bytes
from headatlas.wording import head_name

FOLDER, GRAPHS = "heads", "graphs.json"
VERSION = 1  # raise it when a field changes its meaning


Kind = TypeVar("Kind", bound=Record)


class Number(Record):
    """A mean over examples with its 95 % interval and p-value, which are null with too few groups."""

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None


class Weight(Record):
    """A token (or a kind of token) and a number that goes with it."""

    text: str
    value: float


class Shown(Record):
    """An example of a task, seen with and without the head.

    `prompt` and `twin` are texts cut into tokens, `changed` and `twin_changed` the indices of tokens in which they
    differ. `margin` is what is measured of the intact model, `without` with the head at its baseline. `attention` and
    `twin_attention` are attention weights, see `pack`. `promoted` and `suppressed` are tokens whose
    logits the head raises and lowers directly, through the final norm alone, where the answer is read, compared with
    its baseline.
    """

    id: str
    prompt: list[str]
    answer: str
    foil: str | None
    changed: list[int]
    twin: list[str] | None
    twin_changed: list[int]
    margin: float
    without: float
    attention: str | None
    twin_attention: str | None
    promoted: list[Weight]
    suppressed: list[Weight]


class Partner(Record):
    """Another head: how much more is lost without both than the sum of what is lost without each."""

    layer: int
    head: int
    interaction: Number
    q: float | None


class InTask(Record):
    """A head in one task, measured on `examples` held-out examples of so many `groups`.

    `total` is what the metric loses without the head. `held` is the same with all other heads held at what they do in
    the intact model. `direct` goes through the final norm alone: neither heads nor MLPs react; null where the
    architecture does not add what a head writes to the residual stream as it is. `specific` is the measure of that name
    in the map, with its q-value. `looks` are shares of attention from where the answer is read. Of the heads it was
    `compared_with`, `backups` matter more once this head is removed, and without `suppliers`, which are in earlier
    layers, this head matters less. `strongest` has the examples with the largest effects first, `weakest` those with
    the smallest.
    """

    task: str
    method: str
    rank: int
    metric: str
    baseline: str
    examples: int
    groups: int
    margin: Number
    total: Number
    held: Number
    direct: Number | None
    specific: Number | None
    specific_q: float | None
    looks: list[Weight] | None
    compared_with: list[str]
    backups: list[Partner]
    suppliers: list[Partner]
    strongest: list[Shown]
    weakest: list[Shown]


class Pair(Record):
    """A token that is read, the token whose logit rises most by it, and by how many standard deviations of what other
    tokens do to it."""

    read: str
    written: str
    value: float


class Circuit(Record):
    """What a head writes of what it reads, over the vocabulary: from each token's embedding through values and
    out-projection to logits.

    `copying` is the sum of the eigenvalues of that map over the sum of their sizes: 1 for a head that writes what it
    reads, -1 for one that suppresses it. `itself` is the share of tokens that are among the ten they raise most.
    `by_chance` is the value that the first pair would have if all were random numbers.
    """

    pairs: list[Pair]
    by_chance: float
    copying: float
    itself: float
    tokens: int


class Neutral(Record):
    """A head on plain text: what a token's log-probability loses without it, and where it looks."""

    texts: int
    lost: Number
    looks: list[Weight] | None


class Portrait(Record):
    """All that was measured of one head. What an architecture does not allow is null, and `unavailable` says why."""

    version: int = VERSION
    layer: int
    head: int
    tasks: list[InTask]
    circuit: Circuit | None
    neutral: Neutral
    unavailable: list[str]

    @property
    def name(self) -> str:
        return head_name(self.layer, self.head)


class Node(Record):
    """A head of a function's graph, with its effect."""

    layer: int
    head: int
    total: Number


class Edge(Record):
    """Two heads, the earlier first. A positive interaction: one stands in for the other; a negative: the first supplies
    the second."""

    first: tuple[int, int]
    second: tuple[int, int]
    interaction: Number
    q: float | None


class Graph(Record):
    """The strongest heads of a task and how they depend on each other, all pairs measured exactly."""

    task: str
    metric: str
    baseline: str
    examples: int
    nodes: list[Node]
    edges: list[Edge]


class Graphs(Record):
    """The graphs of an atlas."""

    version: int = VERSION
    graphs: list[Graph]


def pack(weights: NDArray[np.floating]) -> str:
    """Attention weights [query, key] as text: the lower triangle row by row, one byte each, 255 for a weight of 1."""
    rows, columns = np.tril_indices(len(weights))
    return base64.b64encode(np.rint(weights[rows, columns].clip(0, 1) * 255).astype(np.uint8).tobytes()).decode()


def unpack(text: str) -> NDArray[np.float64]:
    """Attention weights [query, key] that `pack` wrote.

    >>> unpack(pack(np.array([[1.0, 0.0], [0.2, 0.8]])))
    array([[1. , 0. ],
           [0.2, 0.8]])
    """
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8) / 255
    size = round((np.sqrt(8 * len(packed) + 1) - 1) / 2)
    weights = np.zeros((size, size))
    weights[np.tril_indices(size)] = packed
    return weights


def write_portrait(folder: Path, portrait: Portrait) -> Path:
    return _write(folder / FOLDER / f"{portrait.name}.json", portrait)


def write_graphs(folder: Path, graphs: Graphs) -> Path:
    return _write(folder / FOLDER / GRAPHS, graphs)


def portraits(folder: Path) -> dict[tuple[int, int], Path]:
    """The files of the heads that have a portrait, by head."""
    found = {}
    for path in (folder / FOLDER).glob("L*H*.json"):
        layer, _, head = path.stem[1:].partition("H")
        if layer.isdecimal() and head.isdecimal():
            found[int(layer), int(head)] = path
    return dict(sorted(found.items()))


def read_portrait(path: Path) -> Portrait:
    return _read(path, Portrait)


def read_graphs(folder: Path) -> list[Graph]:
    """The graphs of an atlas; none before `headatlas head`."""
    path = folder / FOLDER / GRAPHS
    return _read(path, Graphs).graphs if path.exists() else []


def remove_portraits(folder: Path) -> None:
    """Remove all portraits and graphs of an atlas."""
    for path in (*portraits(folder).values(), folder / FOLDER / GRAPHS):
        remove(path)


def _write(path: Path, record: Record) -> Path:
    write_bytes(path, (json.dumps(record.model_dump(), ensure_ascii=False, separators=(",", ":")) + "\n").encode())
    return path


def _read(path: Path, kind: type[Kind]) -> Kind:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HeadAtlasError(f"Cannot read {path}: {error}. Remove it and look at the head again.") from None
    version = content.get("version") if isinstance(content, dict) else None
    if version != VERSION:
        raise HeadAtlasError(
            f"{path} has version {version}; this headatlas reads version {VERSION}. Remove it and look at the head "
            "again."
        )
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise HeadAtlasError(
            f"Cannot read {path}: {where}: {first['msg']}. Remove it and look at the head again."
        ) from None
