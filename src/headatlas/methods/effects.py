"""Effects of heads on examples: estimated from a gradient, or measured exactly by interchange or removal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headatlas.atlas.records import Head
from headatlas.run.cells import CellKind
from headatlas.run.settings import TWIN_BASELINES
from headatlas.run.work import OVERHEAD
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel
    from headatlas.model.memory import Load
    from headatlas.model.partial import LayerInputs
    from headatlas.run.batches import Batch
    from headatlas.run.cells import Cell, Result
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity

ATTRIBUTED_TOKENS = 512  # padded tokens of a batch after its prefix
MEASURED_TOKENS = 192  # the same for exact effects of many heads, several of which share a forward
ATTRIBUTION, EXACT = CellKind("attribution", 6), CellKind("exact effects", 5)

Quantities = Mapping[str, "TaskQuantity"]  # by task
BatchCell = tuple[str, "Batch", "Cell"]  # with its task


def attributed_both_ways(
    title: str, quantities: Quantities, mirrors: Quantities
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Per task, what each example would lose without each head, to first order [example, layer * head]; and the same of
    the mirrored quantities, of tasks that have them. Prompt and twin are run once for both."""
    forth, back = attribution_cells(quantities, mirrors)
    results = _run(title, quantities, [*forth, *back])
    return _by_task(quantities, forth, results), _by_task(mirrors, back, results)


def attribution_cells(quantities: Quantities, mirrors: Quantities) -> tuple[list[BatchCell], list[BatchCell]]:
    """The cells of `attributed_both_ways`: of the quantities, and of their mirrors."""
    forth: list[BatchCell] = []
    back: list[BatchCell] = []
    for task, quantity in quantities.items():
        batches = _attributed_batches(quantity)
        if task not in mirrors:
            forth += [(task, batch, _attribution(quantity, batch)) for batch in batches]
            continue
        for batch, mirrored in zip(batches, _attributed_batches(mirrors[task]), strict=True):
            cell, other = _attribution_both_ways(quantity, batch, mirrors[task], mirrored)
            forth.append((task, batch, cell))
            back.append((task, mirrored, other))
    return forth, back


def _attributed_batches(quantity: TaskQuantity) -> list[Batch]:
    """The beginning is run once; then come the other text, the prompt and a backward."""
    return quantity.batches(ATTRIBUTED_TOKENS, 4 / 3 * OVERHEAD, 1 / 3, by_split=True, paired=True)


def _attribution(quantity: TaskQuantity, batch: Batch) -> Cell:
    """Attribution in one direction."""
    from headatlas.run.interventions import gate_gradient, where_scored
    from headatlas.run.pairs import one_way
    from headatlas.run.stems import stem_work

    model, prefix, rest = after_prefix(quantity, batch)
    side = quantity.side(batch, prefix) if quantity.baseline in TWIN_BASELINES else None

    def compute() -> Result:
        if side is not None:
            return {"effects": one_way(model, side, _past(model, batch, prefix))}
        with where_scored(model):
            replaced = quantity.replacement(batch)
        return {"effects": gate_gradient(model, rest, replaced.values)}

    # The prefix once; then the other text, the prompt, and a backward that costs about as much as a forward.
    other = rest.ids if side is None else side.others
    stems, forwards = stem_work(batch.ids[:, :prefix])
    cost, forwards = stems + other.numel() + 2 * rest.ids.numel(), forwards + quantity.replacement_forwards + 1
    return quantity.context.cell(
        ATTRIBUTION, compute, cost, forwards=forwards, batch=batch.key, **quantity.inputs(batch)
    )


def _attribution_both_ways(
    quantity: TaskQuantity, batch: Batch, mirror: TaskQuantity, mirrored: Batch
) -> tuple[Cell, Cell]:
    """The cells of both directions, as a group. The first one computes both results. Where an earlier run has left that
    one, the second is computed by itself, with the same bits."""
    from headatlas.run.pairs import both_ways
    from headatlas.run.stems import stem_work

    model, prefix, rest = after_prefix(quantity, batch)
    alone, other = _attribution(quantity, batch), _attribution(mirror, mirrored)
    waiting: list[Result] = []

    def compute() -> Result:
        sides = quantity.side(batch, prefix), mirror.side(mirrored, prefix)
        effects, of_mirror = both_ways(model, *sides, _past(model, batch, prefix))
        waiting.append({"effects": of_mirror})
        return {"effects": effects}

    def compute_other() -> Result:
        return waiting.pop() if waiting else other.compute()

    # Each cell counts the forward and the backward of its own text, the first one also the prefix.
    stems, forwards = stem_work(batch.ids[:, :prefix])
    tokens, other_tokens = stems + 2 * rest.ids.numel(), 2 * mirrored.after(prefix).ids.numel()
    return (
        replace(alone, compute=compute, tokens=tokens, forwards=forwards + 1, group=alone.key),
        replace(other, compute=compute_other, tokens=other_tokens, forwards=1, group=alone.key),
    )


def _past(model: HeadModel, batch: Batch, prefix: int) -> LayerInputs:
    from headatlas.run.interventions import where_scored
    from headatlas.run.stems import record_stems

    with where_scored(model):
        return record_stems(model, batch.ids[:, :prefix])


def attribution_load(quantity: TaskQuantity, batch: Batch, both_ways: bool) -> Load:
    """What a cell of `attribution_cells` holds in memory: with a twin, z of the text and its gradient besides the
    graph, and z of the other text where both directions are computed."""
    from headatlas.model.memory import Load

    model, prefix, rest = after_prefix(quantity, batch)
    replaced = quantity.replacement_forwards
    if quantity.baseline in TWIN_BASELINES:
        replaced = 3 if both_ways else 2
    return Load(
        rest.ids.numel(), places=len(rest.reading(model).whole), past=batch.size * prefix,
        replaced=replaced * model.n_layers, backward=True,
    )  # fmt: skip


def exact_effects(title: str, quantities: Quantities, task_units: Mapping[str, Sequence[Unit]]) -> dict[str, Array]:
    """Per task, what each example loses without each of its units, measured [example, unit].

    Keys may be any names: parts of a task that are measured for different units have one each.
    """
    return exact_effects_with_own(title, quantities, task_units, {}, {})[0]


def exact_effects_with_own(
    title: str,
    quantities: Quantities,
    task_units: Mapping[str, Sequence[Unit]],
    own: Quantities,
    own_units: Mapping[str, Sequence[Sequence[Unit]]],
) -> tuple[dict[str, Array], dict[str, list[Array]]]:
    """The same, and of other examples, where each has units of its own, what each loses without those [unit]."""
    cells, own_cells = exact_cells(quantities, task_units), cells_of_own(own, own_units)
    results = _run(title, {**quantities, **own}, [*cells, *own_cells])
    effects: dict[str, list[Array]] = {task: [np.zeros(0)] * len(q.items) for task, q in own.items()}
    for task, batch, cell in own_cells:
        counts = [len(own_units[task][member]) for member in batch.members]
        parts = np.split(results[cell.key]["effects"], np.cumsum(counts)[:-1])
        for member, part in zip(batch.members, parts, strict=True):
            effects[task][member] = part
    return _by_task(quantities, cells, results), effects


def exact_cells(quantities: Quantities, task_units: Mapping[str, Sequence[Unit]]) -> list[BatchCell]:
    """The cells of `exact_effects`."""
    from headatlas.run.ablation import ablate_each, ablation_forwards
    from headatlas.run.beginnings import common_beginning
    from headatlas.run.interventions import where_scored
    from headatlas.run.quantity import ALIKE
    from headatlas.run.stems import stem_work

    def cell(quantity: TaskQuantity, units: Sequence[Unit], batch: Batch) -> Cell:
        model, prefix, rest = after_prefix(quantity, batch)

        def compute() -> Result:
            past = _past(model, batch, prefix)
            with where_scored(model):
                replaced = quantity.replacement(batch, past, {layer for layer, _ in units})
            return {"effects": ablate_each(model, rest, units, replaced.values, replaced.where, past)}

        alike = model.sharing.prefix and quantity.baseline in ALIKE and not prefix
        shared = common_beginning(rest) if alike else 0
        tokens = rest.after(shared).ids.numel()
        replacing = quantity.replacement_forwards * (1 + max(layer for layer, _ in units)) / model.n_layers
        passes = 1 + replacing + relative_depth(units, model.n_layers)
        stems, before = stem_work(batch.ids[:, :prefix])
        cost = stems + (shared + tokens) * passes
        forwards = before + quantity.replacement_forwards + ablation_forwards(units, tokens, shared > 0)
        listed = [[layer, list(heads)] for layer, heads in units]
        return quantity.context.cell(
            EXACT, compute, cost, forwards=forwards, batch=batch.key, units=listed, **quantity.inputs(batch)
        )

    return [
        (task, batch, cell(quantity, task_units[task], batch))
        for task, quantity in quantities.items()
        for batch in quantity.batches(
            *exact_batch_size(len(task_units[task]), quantity.context.model.n_layers),
            by_start=quantity.context.model.sharing.prefix,
        )
    ]


def cells_of_own(quantities: Quantities, task_units: Mapping[str, Sequence[Sequence[Unit]]]) -> list[BatchCell]:
    """The cells of examples that have units of their own."""
    from headatlas.run.ablation import ablate_own, ablation_forwards, largest_example
    from headatlas.run.interventions import where_scored
    from headatlas.run.stems import stem_work

    def cell(quantity: TaskQuantity, units: Sequence[Sequence[Unit]], batch: Batch) -> Cell:
        model, prefix, rest = after_prefix(quantity, batch)
        flat = [unit for own in units for unit in own]

        def compute() -> Result:
            past = _past(model, batch, prefix)
            with where_scored(model):
                replaced = quantity.replacement(batch, past, {layer for layer, _ in flat})
            return {"effects": ablate_own(model, rest, units, replaced.values, replaced.where, past)}

        each = largest_example(rest)
        replacing = quantity.replacement_forwards * (1 + max(layer for layer, _ in flat)) / model.n_layers
        stems, before = stem_work(batch.ids[:, :prefix])
        cost = stems + rest.ids.numel() * (1 + replacing) + each * relative_depth(flat, model.n_layers)
        forwards = before + quantity.replacement_forwards + ablation_forwards(flat, each)
        listed = [[[layer, list(heads)] for layer, heads in own] for own in units]
        return quantity.context.cell(
            EXACT, compute, cost, forwards=forwards, batch=batch.key, own=listed, **quantity.inputs(batch)
        )

    return [
        (task, batch, cell(quantity, [task_units[task][member] for member in batch.members], batch))
        for task, quantity in quantities.items()
        for batch in quantity.batches(MEASURED_TOKENS, 3 * OVERHEAD / 4, 1 / 4)
    ]


def own_load(quantity: TaskQuantity, units: Sequence[Sequence[Unit]], batch: Batch) -> Load:
    """What a cell of `cells_of_own` holds in memory at most: a forward may have copies of its largest example only."""
    from headatlas.model.memory import Load
    from headatlas.run.ablation import largest_example, starting_together
    from headatlas.run.interventions import copies_together

    model, prefix, rest = after_prefix(quantity, batch)
    tokens, each = rest.ids.numel(), largest_example(rest)
    flat = [unit for member in batch.members for unit in units[member]]
    groups = starting_together(flat, each)
    together = each * max(copies_together(len(group), each) for group in groups)  # tokens of the largest forward
    past = (batch.size + together // rest.ids.shape[1]) * prefix
    replaced = quantity.replacement_forwards * len({layer for layer, _ in flat})
    places = len(rest.reading(model).whole)
    return Load(tokens, -(-together // tokens), places, past, recorded=len(groups), replaced=replaced)


def exact_load(quantity: TaskQuantity, units: Sequence[Unit], batch: Batch) -> Load:
    """What a cell of `exact_cells` holds in memory, if rows that begin alike share nothing."""
    from headatlas.model.memory import Load
    from headatlas.run.ablation import starting_together
    from headatlas.run.interventions import copies_together

    model, prefix, rest = after_prefix(quantity, batch)
    tokens, places = rest.ids.numel(), len(rest.reading(model).whole)
    groups = starting_together(units, tokens)
    copies = max((copies_together(len(group), tokens) for group in groups), default=1)
    replaced = quantity.replacement_forwards * len({layer for layer, _ in units})
    return Load(tokens, copies, places, batch.size * prefix, recorded=len(groups), replaced=replaced)


def exact_batch_size(units: int, layers: int) -> tuple[int, float, float]:
    """For exact effects of so many units: tokens of a batch, and what another batch and a token of the beginning are
    worth in tokens after it. Each of those is run for the other text, the prompt, and half of the layers of each unit.
    """
    passes = 2 + units / 2
    forwards = 3 + min(units, layers) / 2
    return max(MEASURED_TOKENS, round(ATTRIBUTED_TOKENS * layers / units)), forwards * OVERHEAD / passes, 1 / passes


def relative_depth(units: Sequence[Unit], layers: int) -> float:
    """What forwards from the layer of each unit upwards cost together, in whole forwards."""
    return sum(layers - layer for layer, _ in units) / layers


def forwards_before(quantity: TaskQuantity, prefix: int) -> int:
    """Forwards before the first one of the prompt: of the prefix, and of what replaces heads."""
    return int(prefix > 0) + quantity.replacement_forwards


def after_prefix(quantity: TaskQuantity, batch: Batch) -> tuple[HeadModel, int, Batch]:
    """The model, how many positions at the beginning of a batch need to be run only once, and the rest of the batch."""
    model = quantity.context.model
    prefix = quantity.prefix(batch) if model.sharing.prefix else 0
    return model, prefix, batch.after(prefix)


def forward_tokens(quantity: TaskQuantity) -> Array:
    """[example]: the tokens of one forward after the prefix, in proportion to which an example costs to measure."""
    tokens = np.empty(len(quantity.items))
    for batch in quantity.batches(1):  # one example each
        tokens[list(batch.members)] = after_prefix(quantity, batch)[2].ids.numel()
    return tokens


def single_heads(heads: Iterable[Head]) -> list[Unit]:
    """Each head as a unit of its own."""
    return [(layer, (head,)) for layer, head in heads]


def kv_groups(model: HeadModel) -> list[Unit]:
    """The heads that share keys and values, replaced together; none where every head has its own."""
    if model.n_kv_heads == model.n_heads:
        return []
    return [(layer, group) for layer in range(model.n_layers) for group in model.kv_groups]


def attributed_units(attributed: Array, units: Sequence[Unit], shape: tuple[int, int]) -> Array:
    """What each example would lose without each unit [example, unit]: to first order, the sum over its heads."""
    by_head = attributed.reshape(-1, *shape)
    return np.stack([by_head[:, layer, list(heads)].sum(1) for layer, heads in units], 1)


def _run(title: str, quantities: Quantities, cells: Sequence[BatchCell]) -> dict[str, Result]:
    """Run the cells of every task under one bar, those of a group one after the other; results by key."""
    if not cells:
        return {}
    groups: dict[str, list[Cell]] = {}
    for _, _, cell in cells:
        groups.setdefault(cell.group or cell.key, []).append(cell)
    ordered = [cell for group in groups.values() for cell in group]
    runner = next(iter(quantities.values())).context.runner
    return dict(zip([cell.key for cell in ordered], runner.run(title, ordered), strict=True))


def _by_task(quantities: Quantities, cells: Sequence[BatchCell], results: Mapping[str, Result]) -> dict[str, Array]:
    """The effects of every task; rows in the order of the quantity's items."""
    effects: dict[str, Array] = {}
    for task, batch, cell in cells:
        values = results[cell.key]["effects"]
        rows = effects.setdefault(task, np.empty((len(quantities[task].items), values.shape[1])))
        rows[list(batch.members)] = values
    return effects
