"""Batches of token ids, and from logits to log-probabilities of answers.

A row is what is fed to the model: a text without its last token. An option whose row is a prefix of another option's
row needs no row of its own, because attention is causal; so all one-token options of a prompt cost a single row. Rows
are padded on the right, where causal attention never looks.

A closed batch also feeds the last token of every answer, to see what the model would write next: " 5" is not what it
says where it goes on to " 57".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from headatlas.model.heads import HeadModel
from headatlas.run.chunks import Sizes, cheapest_chunks
from headatlas.run.encoding import Option
from headatlas.run.reading import Reading, reading_of
from headatlas.run.word_ends import goes_on

BATCH_TOKENS = 512  # padded tokens in a batch; from about here on a CPU's matrix units are busy


@dataclass(frozen=True)
class Batch:
    """Examples that are run together, and which logits score which of their options.

    `ids` is [row, pos] and `lengths` [row]. Target t reads the logits at (`rows[t]`, `positions[t]`) for the token
    `targets[t]` of the option `slots[t]`. Slots count the options of all examples in order; `owners` [slot] says to
    which entry of `members` (the indices of the examples) an option belongs. Where only answers are scored, rows, slots
    and members are the same. `ends` [member, 2] are row and position of the last token of each answer, in closed
    batches.
    """

    members: tuple[int, ...]
    ids: Tensor
    lengths: Tensor
    rows: Tensor
    positions: Tensor
    targets: Tensor
    slots: Tensor
    owners: Tensor
    ends: Tensor | None = None

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
        closing = () if self.ends is None else (self.ends,)
        for part in (self.ids, self.lengths, self.rows, self.positions, self.targets, self.slots, *closing):
            digest.update(f"{tuple(part.shape)}".encode() + part.numpy().tobytes())
        return digest.hexdigest()[:16]

    def repeat(self, copies: int) -> Batch:
        """The batch `copies` times below itself: rows and slots of copy c follow those of copy c - 1."""
        shift = torch.arange(copies).repeat_interleave(len(self.rows))
        ends = None
        if self.ends is not None:
            ends = torch.cat([self.ends + torch.tensor([copy * self.size, 0]) for copy in range(copies)])
        return Batch(
            members=self.members * copies,
            ids=self.ids.repeat(copies, 1),
            lengths=self.lengths.repeat(copies),
            rows=self.rows.repeat(copies) + shift * self.size,
            positions=self.positions.repeat(copies),
            targets=self.targets.repeat(copies),
            slots=self.slots.repeat(copies) + shift * len(self.owners),
            owners=torch.cat([self.owners + copy * len(self.members) for copy in range(copies)]),
            ends=ends,
        )

    def of(self, members: Sequence[int]) -> Batch:
        """Some entries of `members`, each as often as it is named, with all of its rows. What the model would write
        after them is not read."""
        rows, targets, slots = self._parts_of(members)
        first_row = torch.tensor([0, *map(len, rows)]).cumsum(0)
        first_slot = torch.tensor([0, *map(len, slots)]).cumsum(0)
        parts = range(len(members))
        every, reads = torch.cat(rows), torch.cat(targets)
        return Batch(
            members=tuple(self.members[member] for member in members),
            ids=self.ids[every],
            lengths=self.lengths[every],
            rows=torch.cat([torch.searchsorted(rows[i], self.rows[targets[i]]) + first_row[i] for i in parts]),
            positions=self.positions[reads],
            targets=self.targets[reads],
            slots=torch.cat([torch.searchsorted(slots[i], self.slots[targets[i]]) + first_slot[i] for i in parts]),
            owners=torch.cat([torch.full((len(slots[i]),), i) for i in parts]),
        )

    def rows_of(self, members: Sequence[int]) -> list[Tensor]:
        """The rows of each of some entries of `members`."""
        return [(self.row_owners == member).nonzero().flatten() for member in members]

    def _parts_of(self, members: Sequence[int]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Rows, targets and slots of each of some entries of `members`."""
        slots = [(self.owners == member).nonzero().flatten() for member in members]
        targets = [(self.owners[self.slots] == member).nonzero().flatten() for member in members]
        return self.rows_of(members), targets, slots

    def after(self, prefix: int) -> Batch:
        """The batch without its first positions, for a forward that continues them."""
        return replace(
            self,
            ids=self.ids[:, prefix:],
            lengths=self.lengths - prefix,
            positions=self.positions - prefix,
            ends=None if self.ends is None else self.ends - torch.tensor([0, prefix]),
        )

    @cached_property
    def answers(self) -> Tensor:
        """[member]: the slot of the answer, which is the first option of an example."""
        members = range(len(self.members))
        return torch.tensor([int((self.owners == member).nonzero()[0]) for member in members])

    @cached_property
    def row_owners(self) -> Tensor:
        """[row]: the entry of `members` that a row belongs to."""
        owners = torch.empty(self.size, dtype=torch.long)
        if self.ends is not None:  # a row may be there for its end alone
            owners[self.ends[:, 0]] = torch.arange(len(self.members))
        owners[self.rows] = self.owners[self.slots]
        return owners

    def measured(self, model: HeadModel, copies: int = 1) -> Tensor:
        """Run the model over copies of the batch: the `quantity` of every example [copy, example], float64."""
        return self.quantity(self.reading(model).scores(model, self, copies))

    def reading(self, model: HeadModel) -> Reading:
        """The logits that `measured` reads."""
        return self._cancelling if model.sharing.tokens else self._whole

    @cached_property
    def _cancelling(self) -> Reading:
        return reading_of(self, cancelling=True)

    @cached_property
    def _whole(self) -> Reading:
        return reading_of(self, cancelling=False)

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
        """Run the model. For every slot: the summed log-probability (float64), and whether greedy decoding gives it.

        In a closed batch greedy decoding does not give an answer where it goes on with its last word or number.
        """
        return self.scores(model, self.logits(model))

    def logits(self, model: HeadModel) -> Tensor:
        """Run the model: logits [place, vocabulary] at `places`."""
        with model.only_logits(*self.places[0].T):
            return model.logits(self.ids).float()

    def scores(self, model: HeadModel, logits: Tensor) -> tuple[Tensor, Tensor]:
        """What `score` gives, from logits [place, vocabulary] at `places`."""
        reads, targets = self.places[1].to(logits.device), self.targets.to(logits.device)
        best, of_targets = logits.argmax(-1)[reads], reads[: len(targets)]
        # Summed in float64 in main memory: the order then does not matter, and some devices have no float64.
        tokens = logits.log_softmax(-1)[of_targets, targets].cpu().double()
        missed = (best[: len(targets)] != targets).cpu().double()
        blank = torch.zeros(len(self.owners), dtype=torch.float64)
        greedy = blank.index_add(0, self.slots, missed) == 0
        if self.ends is not None and model.tokenizer is not None:
            greedy &= ~self._unfinished(model, best[len(targets) :].cpu())
        return blank.index_add(0, self.slots, tokens), greedy

    @property
    def places(self) -> tuple[Tensor, Tensor]:
        """(row, position) of the logits that are needed [place, 2], and which of them each target reads, then each end.

        All options of an example begin at one position. In closed batches, which have all options, it is read once.
        """
        places = torch.stack([self.rows, self.positions], 1)
        if self.ends is None:
            return places, torch.arange(len(places))
        places, reads = torch.cat([places, self.ends]).unique(dim=0, return_inverse=True)
        return places, reads

    def _unfinished(self, model: HeadModel, following: Tensor) -> Tensor:
        """[slot]: the answers after which the most likely token `following` [member] goes on with the last word."""
        assert self.ends is not None
        unfinished = torch.zeros(len(self.owners), dtype=torch.bool)
        last = self.ids[self.ends[:, 0], self.ends[:, 1]].tolist()
        for member, (end, token) in enumerate(zip(last, following.tolist(), strict=True)):
            unfinished[self.answers[member]] = goes_on(model.tokenizer, end, token)
        return unfinished


def make_batches(
    encoded: Sequence[Sequence[Option]],
    tokens: int = BATCH_TOKENS,
    prefixes: Sequence[int] | None = None,
    overhead: float = 0,
    beginning: float = 0,
    closed: bool = False,
    more: Sequence[int] | None = None,
) -> list[Batch]:
    """Batches of at most `tokens` padded tokens (or one example), examples of similar length together.

    `encoded[i]` holds the options of example i that are to be scored. `prefixes[i]` positions at its beginning will not
    be run with the batch (only as many as all examples of a batch allow), so examples are then put together by those,
    as `cheapest_chunks` says: `overhead` is what another batch is worth in tokens of padding, `beginning` what a token
    of the prefix is. `closed` batches also read what the model writes after each answer, the first of the options.
    Where the rows of example i stand for others that are up to `more[i]` positions longer, it counts as that long.
    """
    rows = [fed_rows(options, closed) for options in encoded]
    widths = [max(map(len, example_rows)) + (more[i] if more else 0) for i, example_rows in enumerate(rows)]
    if prefixes is not None:
        sizes = Sizes([*map(len, rows)], widths, prefixes)
        chunks = cheapest_chunks(sizes, tokens, overhead, beginning)
    else:
        chunks = _full_chunks([*map(len, rows)], widths, tokens)
    return [batch_of(chunk, encoded, rows, closed) for chunk in chunks]


def _full_chunks(rows: Sequence[int], widths: Sequence[int], tokens: int) -> list[list[int]]:
    """Examples by length, as many together as `tokens` allow."""
    chunks: list[list[int]] = []
    for i in sorted(range(len(rows)), key=lambda i: (widths[i], i)):
        together = [*chunks[-1], i] if chunks else [i]
        if chunks and sum(rows[j] for j in together) * widths[i] <= tokens:
            chunks[-1] = together
        else:
            chunks.append([i])
    return chunks


def fed_rows(options: Sequence[Option], closed: bool) -> list[tuple[int, ...]]:
    """What must be fed to score all options: their texts less the last token, without those that begin another; where
    closed, the whole text of the answer."""
    texts = {option.tokens[:-1] for option in options} | ({options[0].tokens} if closed else set())
    fed = sorted(texts, key=lambda row: (-len(row), row))
    rows: list[tuple[int, ...]] = []
    for row in fed:
        if not any(longer[: len(row)] == row for longer in rows):
            rows.append(row)
    return rows


def batch_of(
    chunk: Sequence[int], encoded: Sequence[Sequence[Option]], rows: Sequence[list[tuple[int, ...]]], closed: bool
) -> Batch:
    fed = [row for i in chunk for row in rows[i]]
    ids = torch.zeros(len(fed), max(map(len, fed)), dtype=torch.long)
    for number, row in enumerate(fed):
        ids[number, : len(row)] = torch.tensor(row)
    targets: list[tuple[int, int, int, int]] = []
    owners: list[int] = []
    ends: list[tuple[int, int]] = []
    first_row = 0
    for member, i in enumerate(chunk):
        answer = encoded[i][0].tokens
        ends += [(first_row + r, len(answer) - 1) for r, row in enumerate(rows[i]) if row[: len(answer)] == answer][:1]
        for option in encoded[i]:
            shared = next(r for r, row in enumerate(rows[i]) if row[: len(option.tokens) - 1] == option.tokens[:-1])
            for position in range(option.start, len(option.tokens)):
                targets.append((first_row + shared, position - 1, option.tokens[position], len(owners)))
            owners.append(member)
        first_row += len(rows[i])
    row, position, target, slot = torch.tensor(targets).T.contiguous()
    return Batch(
        tuple(chunk), ids, torch.tensor([len(r) for r in fed]), row, position, target, slot, torch.tensor(owners),
        torch.tensor(ends) if closed else None,
    )  # fmt: skip
