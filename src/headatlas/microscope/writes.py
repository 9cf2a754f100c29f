"""What a head writes where the answer is read, and what that does to the logits directly: through the final norm alone.

Neither heads nor MLPs react. Where an architecture does not add what a head writes to the residual stream as it is, or
where hidden states cannot be handed over, nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headatlas.atlas.records import Head
from headatlas.methods.effects import ATTRIBUTED_TOKENS, after_prefix, forwards_before
from headatlas.microscope.view import TaskView
from headatlas.model.heads import HeadModel
from headatlas.model.sharing import same_logits
from headatlas.run.batches import Batch
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.quantity import Replacement, TaskQuantity
from headatlas.run.work import OVERHEAD
from headatlas.stats import Array

DIRECT = CellKind("direct effects", 3)
TITLE = "Direct effects"
LISTED = 8  # tokens promoted, and as many suppressed; some may be parts of characters, which are not shown
NOT_ADDED = (
    "This architecture does not add what a head writes to the residual stream as it is (it scales or normalises it "
    "first), so its direct effect and the tokens that it promotes are not known."
)
NOT_HANDED_OVER = (
    "This model does not take hidden states that are handed over to its final norm, so direct effects and the tokens "
    "that heads promote are not known."
)


@dataclass(frozen=True)
class Writing:
    """Direct effects of the heads asked for [example, head]; `tokens` and `raised` [example, head, listed] are those
    that a head promotes most and suppresses most (`lowered`), with what they gain over the mean of all tokens.

    What counts is the difference to the head's baseline, such as the twin: what a head writes whatever it reads is the
    same in both, and would hide what it does for the example.
    """

    effects: Array
    tokens: NDArray[np.int64]
    raised: Array
    suppressed: NDArray[np.int64]
    lowered: Array


def why_not_direct(model: HeadModel) -> str | None:
    """Why nothing can be said of direct effects; None where it can."""
    if not model.adds_directly:
        return NOT_ADDED
    return None if model.sharing.layers else NOT_HANDED_OVER


def direct_effects(views: Sequence[TaskView]) -> list[Writing | None]:
    """Of each task; None where hidden states that were handed over gave other logits."""
    batches = [view.quantity.batches(ATTRIBUTED_TOKENS, OVERHEAD) for view in views]
    cells = [[_cell(view, batch) for batch in of_task] for view, of_task in zip(views, batches, strict=True)]
    every = [cell for of_task in cells for cell in of_task]
    results = iter(views[0].quantity.context.runner.run(TITLE, every)) if views else iter(())
    return [_joined(of_task, [next(results) for _ in of_task]) for of_task in batches]


def _joined(batches: Sequence[Batch], results: Sequence[Result]) -> Writing | None:
    if any("unavailable" in result for result in results):
        return None
    order = np.argsort([member for batch in batches for member in batch.members])
    names = ("effects", "tokens", "raised", "suppressed", "lowered")
    return Writing(*(np.concatenate([result[name] for result in results])[order] for name in names))


def _cell(view: TaskView, batch: Batch) -> Cell:
    quantity = view.quantity
    _, prefix, rest = after_prefix(quantity, batch)
    return quantity.context.cell(
        DIRECT,
        partial(_compute, quantity, view.heads, batch),
        batch.size * prefix + rest.ids.numel() * (1 + quantity.replacement_forwards),
        forwards=forwards_before(quantity, prefix) + 1 + 2 * len(view.heads),
        batch=batch.key,
        heads=[list(head) for head in view.heads],
        **quantity.inputs(batch),
    )


@torch.inference_mode()
def _compute(quantity: TaskQuantity, heads: Sequence[Head], batch: Batch) -> Result:
    model, prefix, rest = after_prefix(quantity, batch)
    past = model.record_prefix(batch.ids[:, :prefix])
    replaced = quantity.replacement(batch, past)
    with (
        model.capture(sorted({layer for layer, _ in heads})) as z,
        model.record_inputs(past, [model.n_layers]) as inputs,
        model.only_logits(rest.rows, rest.positions),
    ):
        logits = model.logits(rest.ids)
    leaving = inputs.hidden[model.n_layers]
    device = leaving.device
    hidden = leaving[rest.rows.to(device), rest.positions.to(device)]  # [target, d_model]
    again = model.logits_from(hidden)
    if not same_logits(again, logits):
        return {"unavailable": np.zeros(1)}
    intact, first = _quantity(rest, again), _first_targets(rest)
    effects, listed = [], []
    for head in heads:
        change = _change(model, rest, head, z, replaced).to(hidden)
        without = model.logits_from(hidden - change)
        effects.append(intact - _quantity(rest, without))
        gained = (again[first] - without[first]).float().cpu()
        listed.append(_extremes(model, gained - gained.mean(-1, keepdim=True)))
    names = ("tokens", "raised", "suppressed", "lowered")
    by_name = zip(names, zip(*listed, strict=True), strict=True)
    lists = {name: torch.stack(part, 1).numpy() for name, part in by_name}
    return {
        "effects": torch.stack(effects, 1).numpy(),
        **lists,
    }


def _change(model: HeadModel, batch: Batch, head: Head, z: dict[int, Tensor], replaced: Replacement) -> Tensor:
    """What a head writes where targets are read [target, d_model], less what its baseline would write."""
    layer, number = head
    weight = model.out_weight(layer)[number]
    here = z[layer][:, :, number]  # [row, pos, head_dim]
    other = torch.zeros_like(here)
    if replaced.values is not None:
        other = replaced.values[layer].to(here)[..., number, :].expand_as(here)
    if replaced.where is not None:
        other = torch.where(replaced.where.to(here.device)[..., None], other, here)
    rows, positions = batch.rows.to(here.device), batch.positions.to(here.device)
    return (here - other)[rows, positions] @ weight.to(here.device)


def _quantity(batch: Batch, logits: Tensor) -> Tensor:
    """What is measured of every example, from the logits of its targets [target, vocabulary]."""
    targets = batch.targets.to(logits.device)
    tokens = logits.float().log_softmax(-1)[torch.arange(len(targets), device=logits.device), targets].cpu().double()
    return batch.quantity(torch.zeros(len(batch.owners), dtype=torch.float64).index_add(0, batch.slots, tokens))


def _first_targets(batch: Batch) -> Tensor:
    """[example]: the target that is the first token of its answer."""
    answers = [int((batch.owners == example).nonzero()[0]) for example in range(len(batch.members))]
    return torch.tensor([int((batch.slots == slot).nonzero()[0]) for slot in answers])


def _extremes(model: HeadModel, gained: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The tokens [example, listed] that gain most and lose most, and how much: of those that the tokenizer knows."""
    words = gained[:, : len(model.tokenizer)]
    most = min(LISTED, words.shape[1])
    raised, tokens = words.topk(most)
    lowered, suppressed = words.topk(most, largest=False)
    return tokens, raised, suppressed, lowered
