"""Which logits the quantity of a batch needs.

log p of a token is its logit less the log-sum-exp of all logits at that position. Where every option of an example
reads the same position, all of them lose the same log-sum-exp, and it cancels in their margin: the logits of their own
tokens are enough there. With one-token answers that is every position, and most of the unembedding is never used.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from headatlas.model.heads import HeadModel
    from headatlas.run.batches import Batch

Place = tuple[int, int]  # row and position


@dataclass(frozen=True)
class Reading:
    """All logits at the places `whole` [place, 2], and logits of `single` tokens [n, 3]: row, position, token.

    The targets `of_whole` read the places `reads`, for the tokens `tokens`; the targets `of_single` have one single
    token each. `rows` and `slots` count those of the batch.
    """

    whole: Tensor
    single: Tensor
    of_whole: Tensor
    reads: Tensor
    tokens: Tensor
    of_single: Tensor
    rows: int
    slots: int

    def scores(self, model: HeadModel, batch: Batch, copies: int) -> Tensor:
        """Run copies of the batch. The summed log-probability of every option [copy, slot] in float64, but for a term
        that the options of an example have in common."""
        whole, single = (_repeated(places, copies, self.rows) for places in (self.whole, self.single))
        logits, of_tokens = model.some_logits(batch.ids.repeat(copies, 1), whole, single)
        by_copy = logits.float().view(copies, len(self.whole), logits.shape[1])
        read = by_copy.log_softmax(-1)[:, self.reads.to(logits.device), self.tokens.to(logits.device)]
        # Summed in float64 in main memory: the order then does not matter, and some devices have no float64.
        values = torch.cat([read, of_tokens.float().view(copies, -1)], 1).cpu().double()
        slots = batch.slots[torch.cat([self.of_whole, self.of_single])]
        return torch.zeros(copies, self.slots, dtype=torch.float64).index_add(1, slots, values)


@torch.inference_mode(False)  # it is kept, and read in forwards with a backward too
def reading_of(batch: Batch, cancelling: bool) -> Reading:
    """What the quantity of a batch reads; all logits wherever it reads any, unless those are `cancelling`."""
    ids, owners = batch.ids.tolist(), batch.owners.tolist()
    options = torch.bincount(batch.owners).tolist()
    first: dict[tuple[int, tuple[int, ...]], Place] = {}
    places: list[Place] = []  # of every target; rows of an example that begin alike have the same logits there
    readers: defaultdict[Place, set[int]] = defaultdict(set)
    for row, position, slot in zip(batch.rows.tolist(), batch.positions.tolist(), batch.slots.tolist(), strict=True):
        place = first.setdefault((owners[slot], tuple(ids[row][: position + 1])), (row, position))
        places.append(place)
        readers[place].add(slot)

    def cancels(place: Place) -> bool:
        return cancelling and len(readers[place]) == options[owners[min(readers[place])]] > 1

    numbers = {place: number for number, place in enumerate(place for place in readers if not cancels(place))}
    of_whole = [target for target, place in enumerate(places) if place in numbers]
    of_single = [target for target, place in enumerate(places) if place not in numbers]
    targets = batch.targets.tolist()
    return Reading(
        torch.tensor([*numbers], dtype=torch.long).view(-1, 2),
        torch.tensor([(*places[target], targets[target]) for target in of_single], dtype=torch.long).view(-1, 3),
        torch.tensor(of_whole, dtype=torch.long),
        torch.tensor([numbers[places[target]] for target in of_whole], dtype=torch.long),
        batch.targets[of_whole],
        torch.tensor(of_single, dtype=torch.long),
        batch.size,
        len(batch.owners),
    )


def _repeated(places: Tensor, copies: int, rows: int) -> Tensor:
    """Places of a batch in copies of it, whose rows follow each other."""
    shifted = places.repeat(copies, 1)
    shifted[:, 0] += torch.arange(copies).repeat_interleave(len(places)) * rows
    return shifted
