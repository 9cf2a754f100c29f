"""From examples to batches of token ids, and from logits to log-probabilities of answers.

Every option of an example is tokenised together with its prompt. A row is what is fed to the model: the text without
its last token. An option whose row is a prefix of another option's row needs no row of its own, because attention is
causal; so all one-token options of a prompt cost a single row. Rows are padded on the right, where it never looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import HeadModel
from headatlas.suites.example import Example

BATCH_TOKENS = 512  # padded tokens in a batch; from about here on a CPU's matrix units are busy


@dataclass(frozen=True)
class Option:
    """One tokenised text of an example: `tokens[start:]` is scored."""

    tokens: tuple[int, ...]
    start: int


class Encoder:
    """Turns texts into options with one tokenizer, plain or through its chat template."""

    def __init__(self, model: HeadModel, chat: bool = False):
        self.tokenizer, self.context, self.chat = model.tokenizer, model.context, chat
        if self.tokenizer is None:
            raise HeadAtlasError(f"{model.name} was given without a tokenizer, which is needed to read examples.")
        if chat and not getattr(self.tokenizer, "chat_template", None):
            raise HeadAtlasError(f"The tokenizer of {model.name} has no chat template. Leave --chat out.")
        begin = self.tokenizer.bos_token_id
        adds = begin is not None and self.tokenizer("a")["input_ids"][:1] == [begin]
        self._begin = [begin] if adds else []
        self._encoded: dict[Example, list[Option]] = {}

    def ids(self, text: str) -> list[int]:
        if self.chat:  # the template has written the special tokens
            return self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return self._begin + self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def asked(self, prompt: str) -> str:
        """The text that is fed for a prompt: itself, or what the chat template makes of it."""
        if not self.chat:
            return prompt
        turn = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)

    def encode(self, example: Example) -> list[Option]:
        """The answer first, then the distractors. Every example is tokenised once."""
        if example not in self._encoded:
            self._encoded[example] = self._encode(example)
        return self._encoded[example]

    def _encode(self, example: Example) -> list[Option]:
        """Where a tokenizer merges the end of the prompt with the beginning of an option, all options of the example
        are scored from the last token that none of them changes, so that they stay comparable.
        """
        prompt, texts = self.asked(example.prompt), (example.answer, *example.distractors)
        if self.chat:
            texts = tuple(text.lstrip() for text in texts)
        alone = self.ids(prompt)
        whole = [self.ids(prompt + text) for text in texts]
        start = min(_shared(alone, tokens) for tokens in whole)
        for text, tokens in zip(texts, whole, strict=True):
            if len(tokens) <= start:
                raise HeadAtlasError(
                    f"Example {example.id!r}: {text!r} tokenises to nothing after its prompt, so it cannot be scored."
                )
            if len(tokens) > self.context:
                raise HeadAtlasError(
                    f"Example {example.id!r} has {len(tokens)} tokens with {text!r}; the model's context holds "
                    f"{self.context}. Shorten it or leave it out."
                )
        if start == 0:
            raise HeadAtlasError(f"Example {example.id!r}: no token of its prompt stands before the answer.")
        return [Option(tuple(tokens), start) for tokens in whole]


def _shared(a: Sequence[int], b: Sequence[int]) -> int:
    """The length of the common prefix."""
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return i
    return min(len(a), len(b))


@dataclass(frozen=True)
class Batch:
    """Examples that are run together, and which logits score which of their options.

    `ids` is [row, pos] and `lengths` [row]. Target t reads the logits at (`rows[t]`, `positions[t]`) for the token
    `targets[t]` of the option `slots[t]`. Slots count the options of all examples in order; `owners` [slot] says whose
    they are as a place in `members`, the indices of the examples. With only answers in it, row = slot = member.
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


def make_batches(encoded: Sequence[Sequence[Option]], tokens: int = BATCH_TOKENS) -> list[Batch]:
    """Batches of at most `tokens` padded tokens (or one example), examples of like length together.

    `encoded[i]` holds the options of example i that are to be scored.
    """
    rows = [_rows(options) for options in encoded]
    widths = [max(map(len, own)) for own in rows]
    order = sorted(range(len(encoded)), key=lambda i: (widths[i], i))
    batches, chunk = [], list[int]()
    for i in order:
        if chunk and (sum(len(rows[j]) for j in chunk) + len(rows[i])) * widths[i] > tokens:
            batches.append(_batch(chunk, encoded, rows))
            chunk = []
        chunk.append(i)
    return [*batches, _batch(chunk, encoded, rows)] if chunk else batches


def _rows(options: Sequence[Option]) -> list[tuple[int, ...]]:
    """What must be fed to score all options: their texts less the last token, without those that begin another."""
    fed = sorted({option.tokens[:-1] for option in options}, key=lambda row: (-len(row), row))
    kept: list[tuple[int, ...]] = []
    for row in fed:
        if not any(longer[: len(row)] == row for longer in kept):
            kept.append(row)
    return kept


def _batch(chunk: Sequence[int], encoded: Sequence[Sequence[Option]], rows: Sequence[list[tuple[int, ...]]]) -> Batch:
    fed = [row for i in chunk for row in rows[i]]
    ids = torch.zeros(len(fed), max(map(len, fed)), dtype=torch.long)
    for place, row in enumerate(fed):
        ids[place, : len(row)] = torch.tensor(row)
    targets: list[tuple[int, int, int, int]] = []
    owners: list[int] = []
    first_row = 0
    for member, i in enumerate(chunk):
        for option in encoded[i]:
            own = next(r for r, row in enumerate(rows[i]) if row[: len(option.tokens) - 1] == option.tokens[:-1])
            for position in range(option.start, len(option.tokens)):
                targets.append((first_row + own, position - 1, option.tokens[position], len(owners)))
            owners.append(member)
        first_row += len(rows[i])
    row, position, target, slot = torch.tensor(targets).T.contiguous()
    return Batch(
        tuple(chunk), ids, torch.tensor([len(r) for r in fed]), row, position, target, slot, torch.tensor(owners)
    )
