"""What is measured of a task, and what replaces a head: the metric, the baseline, and the batches they need."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from headatlas.atlas.run_record import Quantity
from headatlas.errors import HeadAtlasError
from headatlas.model.heads import Baseline
from headatlas.model.partial import LayerInputs
from headatlas.run.alignment import NONE, align
from headatlas.run.baselines import Baselines
from headatlas.run.batches import Batch, make_batches
from headatlas.run.beginnings import by_beginning
from headatlas.run.context import RunContext
from headatlas.run.encoding import Option, common_prefix
from headatlas.run.nesting import are_nested
from headatlas.run.pairs import Side
from headatlas.run.settings import TWIN_BASELINES
from headatlas.run.twins import Twin, lent_twins, twins
from headatlas.suites.example import Example
from headatlas.suites.suite import MAPPED, SPLITS

ALIKE = ("zero", "mean")  # baselines that do the same to a text wherever it stands
REUSE, MOST = 8, 1024  # tokens after a common beginning for each token of it, which then costs little; and at most
ENOUGH_TWINS = {"twin": 0.9, "pair": 0.6}  # share of a task's examples from which on a baseline is its default


@dataclass(frozen=True)
class Replacement:
    """What replaces z in a batch, and at which positions [row, pos]; everywhere where None."""

    values: Baseline | None
    where: Tensor | None = None


@dataclass(frozen=True)
class Item:
    """One example as it is measured: its split, its options (the answer first), and the tokens of its twin's prompt
    with the position of the twin that corresponds to each of its own."""

    example: Example
    split: str
    options: tuple[Option, ...]
    twin: tuple[int, ...] = ()
    aligned: tuple[int, ...] = ()

    @property
    def prefix(self) -> int:
        """Positions at the beginning where the twin is the same text, so that its heads do the same."""
        return common_prefix(self.options[0].tokens[: self.options[0].start], self.twin)


@dataclass(frozen=True)
class TaskQuantity:
    """The examples of one task with what is measured of them.

    `metric` is "margin" (log p of the answer less that of the foil) or "logprob". `baseline` is what replaces a head:
    with "twin" and "pair" its z on the twin's prompt, position by position. `left_out` counts the examples that have no
    twin, cannot be aligned with it, or whose answer and foil begin one another.
    """

    context: RunContext
    task: str
    metric: str
    baseline: str
    items: tuple[Item, ...]
    left_out: int = 0
    seed: int = 0

    @property
    def groups(self) -> list[str]:
        return [item.example.group for item in self.items]

    @property
    def record(self) -> Quantity:
        return Quantity(metric=self.metric, baseline=self.baseline)

    def batches(
        self,
        tokens: int,
        overhead: float = 0,
        beginning: float = 0,
        by_split: bool = False,
        by_start: bool = False,
        paired: bool = False,
    ) -> list[Batch]:
        """Examples whose twins begin to differ at about the same position together, because only what follows is run
        again and again. `tokens` is the size of a batch after that; `overhead` and `beginning` are how many tokens of
        padding cost as much as another batch, and as a token before that. Members index `items`.

        With `by_split` no batch has examples of two splits, so that its cell serves maps of one split too. With
        `by_start` examples that begin alike come together, where a replacement does the same to all of them: more of
        them then, because they share their beginning. With `paired` an example is as long as the longer one of its text
        and its twin's: the mirrored quantity then has the same rows in each batch.
        """
        parts = [([*range(len(self.items))], 0)]
        if by_split:
            parts = [([i for i, item in enumerate(self.items) if item.split == split], 0) for split in SPLITS]
        if by_start and self.baseline in ALIKE:
            parts = by_beginning([item.options[0].tokens[: item.options[0].start - 1] for item in self.items])
        batches = []
        for part, start in parts:
            items = [self.items[i] for i in part]
            prefixes = [max(item.prefix, start) for item in items]
            more = [max(0, len(item.twin) - item.options[0].start) for item in items] if paired else None
            size = max(tokens, min(REUSE * start, MOST))
            made = make_batches([item.options for item in items], size, prefixes, overhead, beginning, more=more)
            batches += [replace(batch, members=tuple(part[i] for i in batch.members)) for batch in made]
        for batch in batches:
            self.note_examples(batch)
        return batches

    def note_examples(self, batch: Batch) -> None:
        """Whose examples a batch holds, for errors; members index `items`."""
        self.context.note_examples(batch, self.task, [self.items[i].example.id for i in batch.members])

    def prefix(self, batch: Batch) -> int:
        """Positions at the beginning of a batch that no replacement changes."""
        return min(self.items[i].prefix for i in batch.members)

    def only(self, indices: Sequence[int]) -> TaskQuantity:
        """The same of some of the examples."""
        return replace(self, items=tuple(self.items[i] for i in indices))

    def inputs(self, batch: Batch) -> dict[str, object]:
        """What the numbers of a batch depend on besides its tokens."""
        if self.baseline in TWIN_BASELINES:
            twins = [[list(self.items[i].twin), list(self.items[i].aligned)] for i in batch.members]
            return {"metric": self.metric, "baseline": {"kind": "twin", "twins": twins}}
        return {"metric": self.metric, "baseline": self._baselines.inputs(self.task)}

    @property
    def replacement_forwards(self) -> int:
        """Forwards that `replacement` takes."""
        return int(self.baseline in (*TWIN_BASELINES, "resample"))

    def replacement(
        self, batch: Batch, past: LayerInputs | None = None, layers: Collection[int] | None = None
    ) -> Replacement:
        """What replaces z in a batch; of the positions after a prefix that all its rows share with their twins where
        `past` has recorded that. Where only heads of some `layers` are replaced, no others need be held."""
        if self.baseline in TWIN_BASELINES:
            return self._interchange(batch, past or LayerInputs(), layers)
        return Replacement(self._baselines.for_batch(self.task, batch))

    @cached_property
    def _baselines(self) -> Baselines:
        return Baselines(self.baseline, self.context, self.seed)

    def _interchange(self, batch: Batch, past: LayerInputs, layers: Collection[int] | None) -> Replacement:
        """z of the twin's prompt with the same continuation, brought to the positions of the batch."""
        side, model = self.side(batch, past.prefix), self.context.model
        highest = model.n_layers - 1 if layers is None else max(layers)
        with (
            torch.no_grad(),
            model.continue_after(past),
            model.capture(layers, reduce=lambda _, z: side.counterparts(z)) as donated,
        ):
            model.run_up_to(highest, side.others)
        return Replacement(donated, side.where)

    def side(self, batch: Batch, prefix: int) -> Side:
        """A batch after its prefix, with the twins' prompts beside it, continued as its own texts are."""
        others: list[Tensor] = []
        index = torch.full(batch.ids.shape, prefix)
        where = torch.zeros(batch.ids.shape, dtype=torch.bool)
        for row, owner in enumerate(batch.row_owners.tolist()):
            item = self.items[batch.members[owner]]
            length, start = int(batch.lengths[row]), len(item.aligned)
            continuation = batch.ids[row, start:length]
            others.append(torch.cat([torch.tensor(item.twin), continuation]))
            positions = torch.tensor([*item.aligned, *range(len(item.twin), len(item.twin) + length - start)])
            where[row, :length] = positions != NONE
            index[row, :length] = positions.clamp(min=prefix)
        ids = torch.nn.utils.rnn.pad_sequence(others, batch_first=True)[:, prefix:]
        return Side(batch.after(prefix), ids, index[:, prefix:] - prefix, where[:, prefix:])

    def mirrored(self) -> TaskQuantity:
        """The same contrast on the twin's prompt, with the example as the twin: what `enough` is measured on."""
        if self.baseline not in TWIN_BASELINES:
            raise HeadAtlasError(
                f"Only a twin can gain from a head; the baseline of {self.task!r} is {self.baseline!r}."
            )
        items = []
        for item in self.items:
            start = item.options[0].start
            options = tuple(Option((*item.twin, *o.tokens[start:]), len(item.twin)) for o in item.options)
            prompt = item.options[0].tokens[:start]
            back = align(item.twin, prompt)
            assert back is not None, "two texts can be aligned either way or not at all"
            items.append(Item(item.example, item.split, options, tuple(prompt), tuple(back)))
        return replace(self, items=tuple(items))


def plan_quantity(
    context: RunContext,
    task: str,
    splits: Sequence[str] = MAPPED,
    metric: str | None = None,
    baseline: str | None = None,
    seed: int = 0,
) -> TaskQuantity:
    """What is measured of a task in some splits: as asked for, or the default for what its examples have.

    The twin is the baseline where at least 90 % of the examples have one that can be aligned; another example is lent
    as a twin where that works for 60 %; the mean otherwise. The metric is a margin where there is anything to compare
    with.
    """
    count = sum(len(context.examples(task, split)) for split in splits)
    for kind in (baseline,) if baseline else ("twin", "pair", "mean"):
        if kind not in TWIN_BASELINES:
            return _plain(context, task, splits, metric, kind, seed)
        items = paired_items(context, task, splits, kind, metric, seed)
        if baseline is None and len(items) < ENOUGH_TWINS[kind] * count:
            continue
        if len({item.example.group for item in items}) < 2:
            raise HeadAtlasError(
                f"Only {len(items)} of {count} examples of {task!r} outside its held-out split have a twin that can "
                f"be aligned, too few for `baseline` {kind!r}. Give more twins, or use another `baseline`."
            )
        left_out = count - len(items)
        return TaskQuantity(context, task, metric or "margin", kind, tuple(items), left_out, seed)
    raise AssertionError("the mean needs no twin")


def paired_items(
    context: RunContext, task: str, splits: Sequence[str], kind: str, metric: str | None = None, seed: int = 0
) -> list[Item]:
    """The examples that can be measured with a twin: their own ("twin"), or one lent from the same splits ("pair")."""
    split_of = {example: split for split in splits for example in context.examples(task, split)}
    given = twins([*split_of]) if kind == "twin" else lent_twins([*split_of], context.encoder, seed)
    items = (_paired(context, example, split, given.get(example.id), metric) for example, split in split_of.items())
    return [item for item in items if item is not None]


def _plain(
    context: RunContext, task: str, splits: Sequence[str], metric: str | None, baseline: str, seed: int
) -> TaskQuantity:
    """The answer against its distractors, or alone."""
    split_of = {example: split for split in splits for example in context.examples(task, split)}
    if metric is None:
        metric = "margin" if all(example.distractors for example in split_of) else "logprob"
    if metric == "margin" and (bare := [example.id for example in split_of if not example.distractors]):
        raise HeadAtlasError(
            f"The margin of {task!r} was asked for, but example {bare[0]!r} has no distractors to compare with. Give "
            "distractors or twins, or use `metric` 'logprob'."
        )
    scored = slice(None) if metric == "margin" else slice(1)
    items = tuple(
        Item(example, split, tuple(context.encoder.encode(example)[scored])) for example, split in split_of.items()
    )
    return TaskQuantity(context, task, metric, baseline, items, 0, seed)


def _paired(context: RunContext, example: Example, split: str, twin: Twin | None, metric: str | None) -> Item | None:
    """An example with its twin; None where it has none, the two cannot be aligned, or their margin means nothing."""
    if twin is None:
        return None
    texts = (example.answer, twin.answer)
    options = context.encoder.encode_texts(example.id, example.prompt, texts)
    if metric != "logprob" and are_nested(options):
        return None
    donor = context.encoder.encode_texts(example.id, twin.prompt, texts)
    prompt, other = options[0].tokens[: options[0].start], donor[0].tokens[: donor[0].start]
    aligned = align(prompt, other)
    if aligned is None or prompt == other:
        return None
    return Item(example, split, tuple(options if metric != "logprob" else options[:1]), tuple(other), tuple(aligned))
