"""Batches of token ids, and from logits to log-probabilities of answers.

A row is what is fed to the model: a text without its last token. An option whose row is a prefix of another option's
row needs no row of its own, because attention is causal; so all one-token options of a prompt cost a single row. Rows
are padded on the right, where causal attention never looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from headatlas.model.heads import HeadModel
from headatlas.run.encoding import Option

BATCH_TOKENS = 512  # padded tokens in a batch; from about here on a CPU's matrix units are busy
MOST_PADDING = 1.4  # padded over needed positions, where prefixes are left out


@dataclass(frozen=True)
class Batch:
    """Examples that are run together, and which logits score which of their options.

    `ids` is [row, pos] and `lengths` [row]. Target t reads the logits at (`rows[t]`, `positions[t]`) for the token
    `targets[t]` of the option `slots[t]`. Slots count the options of all examples in order; `owners` [slot] says to
    which entry of `members` (the indices of the examples) an option belongs. Where only answers are scored, rows, slots
    and members are the same.
    """

    members: tuple[int, ...]
    ids: Tensor
    lengths: Tensor
    rows: Tensor
    positions: Tensor
    targets: Tensor
    slots: Tensor
    owners: Tensor

    @property
    def size(self) -> int:
        return self.ids.shape[0]

    @property
    def real(self) -> Tensor:
        """[row, pos]: true where there is a token and not padding."""
        return torch.arange(self.ids.shape[1]) < self.lengths[:, None]

    @cached_property
    def key(self) -> str:
        """A hash of what is fed and scored."""
        digest = hashlib.sha256()
        for part in (self.ids, self.lengths, self.rows, self.positions, self.targets, self.slots):
            digest.update(f"{tuple(part.shape)}".encode() + part.numpy().tobytes())
        return digest.hexdigest()[:16]

    def repeat(self, copies: int) -> Batch:
        """The batch `copies` times below itself: rows and slots of copy c follow those of copy c - 1."""
        shift = torch.arange(copies).repeat_interleave(len(self.rows))
        return Batch(
            members=self.members * copies,
            ids=self.ids.repeat(copies, 1),
            lengths=self.lengths.repeat(copies),
            rows=self.rows.repeat(copies) + shift * self.size,
            positions=self.positions.repeat(copies),
            targets=self.targets.repeat(copies),
            slots=self.slots.repeat(copies) + shift * len(self.owners),
            owners=torch.cat([self.owners + copy * len(self.members) for copy in range(copies)]),
        )

    def after(self, prefix: int) -> Batch:
        """The batch without its first positions, for a forward that continues them."""
        return replace(self, ids=self.ids[:, prefix:], lengths=self.lengths - prefix, positions=self.positions - prefix)

    @cached_property
    def row_owners(self) -> Tensor:
        """[row]: the entry of `members` that a row belongs to."""
        owners = torch.empty(self.size, dtype=torch.long)
        owners[self.rows] = self.owners[self.slots]
        return owners

    def quantity(self, logprobs: Tensor) -> Tensor:
        """What is measured of every example [..., example], from log-probabilities [..., slot].

        The log-probability of the first option, less that of all others together (log-sum-exp) where there are any: a
        margin. Can be differentiated.
        """
        values = []
        for example in range(len(self.members)):
            slots = (self.owners == example).nonzero().flatten()
            answer, others = logprobs[..., slots[0]], logprobs[..., slots[1:]]
            values.append(answer - others.logsumexp(-1) if len(slots) > 1 else answer)
        return torch.stack(values, -1)

    def score(self, model: HeadModel) -> tuple[Tensor, Tensor]:
        """Run the model. For every slot: the summed log-probability (float64), and whether greedy decoding gives it."""
        with model.only_logits(self.rows, self.positions):
            logits = model.logits(self.ids).float()
        targets = self.targets.to(logits.device)
        # Summed in float64 in main memory: the order then does not matter, and some devices have no float64.
        tokens = logits.log_softmax(-1).gather(-1, targets[:, None]).squeeze(-1).cpu().double()
        missed = (logits.argmax(-1) != targets).cpu().double()
        blank = torch.zeros(len(self.owners), dtype=torch.float64)
        return blank.index_add(0, self.slots, tokens), blank.index_add(0, self.slots, missed) == 0


def make_batches(
    encoded: Sequence[Sequence[Option]], tokens: int = BATCH_TOKENS, prefixes: Sequence[int] | None = None
) -> list[Batch]:
    """Batches of at most `tokens` padded tokens (or one example), examples of similar length together.

    `encoded[i]` holds the options of example i that are to be scored. `prefixes[i]` positions at its beginning will not
    be run with the batch (only as many as all examples of a batch allow), so examples are then put together by those,
    and not where much would be padding.
    """
    rows = [_rows(options) for options in encoded]
    widths = [max(map(len, example_rows)) for example_rows in rows]
    starts = [0] * len(encoded) if prefixes is None else prefixes
    order = sorted(range(len(encoded)), key=lambda i: (starts[i], widths[i], i))
    batches, chunk = [], list[int]()
    for i in order:
        together = [*chunk, i]
        width = max(widths[j] for j in together) - starts[together[0]]  # the first of a chunk has the shortest prefix
        padded = sum(len(rows[j]) for j in together) * width
        wasteful = prefixes is not None and width > MOST_PADDING * (widths[i] - starts[i])
        if chunk and (padded > tokens or wasteful):
            batches.append(_batch(chunk, encoded, rows))
            chunk = []
        chunk.append(i)
    return [*batches, _batch(chunk, encoded, rows)] if chunk else batches


def _rows(options: Sequence[Option]) -> list[tuple[int, ...]]:
    """What must be fed to score all options: their texts less the last token, without those that begin another."""
    fed = sorted({option.tokens[:-1] for option in options}, key=lambda row: (-len(row), row))
    rows: list[tuple[int, ...]] = []
    for row in fed:
        if not any(longer[: len(row)] == row for longer in rows):
            rows.append(row)
    return rows


def _batch(chunk: Sequence[int], encoded: Sequence[Sequence[Option]], rows: Sequence[list[tuple[int, ...]]]) -> Batch:
    fed = [row for i in chunk for row in rows[i]]
    ids = torch.zeros(len(fed), max(map(len, fed)), dtype=torch.long)
    for number, row in enumerate(fed):
        ids[number, : len(row)] = torch.tensor(row)
    targets: list[tuple[int, int, int, int]] = []
    owners: list[int] = []
    first_row = 0
    for member, i in enumerate(chunk):
        for option in encoded[i]:
            shared = next(r for r, row in enumerate(rows[i]) if row[: len(option.tokens) - 1] == option.tokens[:-1])
            for position in range(option.start, len(option.tokens)):
                targets.append((first_row + shared, position - 1, option.tokens[position], len(owners)))
            owners.append(member)
        first_row += len(rows[i])
    row, position, target, slot = torch.tensor(targets).T.contiguous()
    return Batch(
        tuple(chunk), ids, torch.tensor([len(r) for r in fed]), row, position, target, slot, torch.tensor(owners)
    )
