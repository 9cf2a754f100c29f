"""Which examples are run together under many interventions, and which interventions share a forward.

Every token of a batch is run once for each intervention, so padding is dear and another forward is cheap: a batch of
one example fills a forward. Examples are put together only where that saves something: where they have the same length,
or begin with the same tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from headatlas.run.batches import BATCH_TOKENS, Batch, batch_of, fed_rows
from headatlas.run.encoding import Option, common_prefix
from headatlas.run.interventions import FORWARD_TOKENS
from headatlas.run.work import OVERHEAD

Row = tuple[int, ...]  # token ids


@dataclass(frozen=True)
class Trunks:
    """Sets of heads that are the same below the layer `cut`, of which one stands for all until there: `sets` has the
    numbers of each trunk, `first` the lowest layer that it changes."""

    cut: int
    sets: tuple[tuple[int, ...], ...]
    first: tuple[int, ...]

    @property
    def numbers(self) -> list[int]:
        """Of all sets, trunk by trunk."""
        return [number for trunk in self.sets for number in trunk]

    @property
    def below(self) -> int:
        """Layers that are run below the cut, over all trunks."""
        return sum(self.cut - first for first in self.first)

    @property
    def saved(self) -> int:
        """Layers that need not be run, over all sets."""
        return sum((len(sets) - 1) * (self.cut - first) for sets, first in zip(self.sets, self.first, strict=True))

    def forwards(self, prefix: int, rest: int) -> list[tuple[int, list[int]]]:
        """The layer at which a forward up to the cut starts, and the numbers of its trunks."""
        room = max(1, FORWARD_TOKENS // (prefix + rest))
        lowest_first = sorted(range(len(self.sets)), key=lambda trunk: (self.first[trunk], trunk))
        chunks = [lowest_first[i : i + room] for i in range(0, len(lowest_first), room)]
        return [(self.first[chunk[0]], chunk) for chunk in chunks]


@dataclass(frozen=True)
class Starts:
    """What forwards of several sets of heads cost: `first` is the lowest layer that each set changes, `layers` how many
    there are. A set that changes nothing needs no forward: that of the intact model is run anyway.

    Sets with the same number in `below[layer]` do the same in all layers below it; without `below` none are known to.
    """

    first: tuple[int, ...]
    layers: int
    below: tuple[tuple[int, ...], ...] = field(default=(), compare=False)

    def trunks(self, prefix: int, rest: int) -> Trunks | None:
        """What sets share, with so many tokens of a prefix, run by itself, and of the rest; None where that costs more
        than it saves."""

        def gain(trunks: Trunks) -> float:
            forwards = self._parts(prefix) * len(trunks.forwards(prefix, rest))
            return trunks.saved * (prefix + rest) - forwards * OVERHEAD * (trunks.cut - min(trunks.first))

        best = max(self._cuts, key=gain, default=None)
        return best if best is not None and gain(best) > 0 else None

    @cached_property
    def _cuts(self) -> list[Trunks]:
        """The trunks of every cut."""
        cuts = []
        for cut, numbers in enumerate(self.below):
            together: dict[int, list[int]] = {}
            for number, (trunk, first) in enumerate(zip(numbers, self.first, strict=True)):
                if first < cut:
                    together.setdefault(trunk, []).append(number)
            sets = tuple(map(tuple, together.values()))
            trunks = Trunks(cut, sets, tuple(self.first[numbers[0]] for numbers in sets))
            if trunks.saved:
                cuts.append(trunks)
        return cuts

    def without(self, trunks: Trunks | None) -> Starts:
        """Only the sets that are in no trunk, with the numbers they have."""
        grown = set(trunks.numbers if trunks else ())
        return Starts(tuple(self.layers if i in grown else first for i, first in enumerate(self.first)), self.layers)

    @cached_property
    def counts(self) -> list[tuple[int, int]]:
        """How many sets start at which layer, from below."""
        return sorted(Counter(start for start in self.first if start < self.layers).items())

    def layers_of(self, prefix: int, rest: int) -> dict[int, int]:
        """For the lowest layers that sets change: where their forwards start, with so many tokens of a prefix, run by
        itself, and of the rest. It is a lower one where that costs less than another forward."""
        starts: dict[int, int] = {}
        for layer, sets in self.counts:
            below = max(starts.values(), default=layer)
            more = sets * (prefix + rest) * (layer - below)
            starts[layer] = below if more < self._parts(prefix) * OVERHEAD * (self.layers - layer) else layer
        return starts

    def forwards(self, prefix: int, rest: int) -> list[tuple[int, list[int]]]:
        """The layer at which a forward starts, and the numbers of its sets."""
        starts, room = self.layers_of(prefix, rest), max(1, FORWARD_TOKENS // (prefix + rest))
        together: dict[int, list[int]] = {}
        for number in sorted(range(len(self.first)), key=lambda number: self.first[number]):
            if self.first[number] < self.layers:
                together.setdefault(starts[self.first[number]], []).append(number)
        chunks = [numbers[i : i + room] for numbers in together.values() for i in range(0, len(numbers), room)]
        return [(min(self.first[number] for number in chunk), chunk) for chunk in chunks]

    def cost(self, prefix: int, rest: int) -> float:
        """About how many tokens of whole forwards take as long as all of this, with the forward of the intact model."""
        tokens = prefix + rest
        if trunks := self.trunks(prefix, rest):
            above = len(trunks.numbers) * (self.layers - trunks.cut)
            forwards = self._parts(prefix) * max(1, len(trunks.numbers) * tokens / FORWARD_TOKENS)
            grown = (trunks.below + above) * tokens + forwards * OVERHEAD * (self.layers - min(trunks.first))
            return self.without(trunks).cost(prefix, rest) + grown / self.layers
        starts = self.layers_of(prefix, rest)
        sets: Counter[int] = Counter()
        for layer, count in self.counts:
            sets[starts[layer]] += count
        cost = float(tokens + self._parts(prefix) * OVERHEAD)
        for start, count in sets.items():
            forwards = self._parts(prefix) * max(1, count * tokens / FORWARD_TOKENS)
            cost += (1 - start / self.layers) * (count * tokens + forwards * OVERHEAD)
        return cost

    def prefix(self, rows: Sequence[Row], scored: int) -> int:
        """Tokens that all rows begin with, before the first position that is scored; none where it costs less to run
        them in every row."""
        first, last = min(rows), max(rows)  # what these two share, all share
        length, size = min(common_prefix(first, last), scored), len(rows) * max(map(len, rows))
        return length if self.cost(length, size - len(rows) * length) < self.cost(0, size) else 0

    @staticmethod
    def _parts(prefix: int) -> int:
        return 2 if prefix else 1


def prefix_of(batch: Batch, starts: Starts) -> int:
    """The prefix of the rows of a batch."""
    rows = [tuple(ids[:length]) for ids, length in zip(batch.ids.tolist(), batch.lengths.tolist(), strict=True)]
    return starts.prefix(rows, int(batch.positions.min()))


def pack(encoded: Sequence[Sequence[Option]], starts: Starts, share: bool, closed: bool = True) -> list[Batch]:
    """Batches of at most BATCH_TOKENS tokens (or one example) that cost little under many sets of heads.

    `encoded[i]` holds the options of example i that are to be scored. With `share` the beginning that all rows of a
    batch have in common is run once for each set.
    """
    rows = [fed_rows(options, closed) for options in encoded]
    scored = [min(option.start for option in options) - 1 for options in encoded]

    def size(chunk: Sequence[int]) -> tuple[int, int]:
        """Tokens of the prefix, and of all rows after it."""
        fed = [row for i in chunk for row in rows[i]]
        prefix = starts.prefix(fed, min(scored[i] for i in chunk)) if share else 0
        return prefix, len(fed) * (max(map(len, fed)) - prefix)

    def cost(chunk: Sequence[int]) -> float:
        return starts.cost(*size(chunk))

    def chunks(order: Iterable[int]) -> list[list[int]]:
        packed: list[list[int]] = []
        for i in order:
            together = [*packed[-1], i] if packed else [i]
            fits = len(together) == 1 or sum(size(together)) <= BATCH_TOKENS
            if packed and fits and cost(together) < cost(packed[-1]) + cost([i]):
                packed[-1] = together
            else:
                packed.append([i])
        return packed

    by_length = sorted(range(len(rows)), key=lambda i: (max(map(len, rows[i])), i))
    by_beginning = sorted(range(len(rows)), key=lambda i: (rows[i][0], i))
    tried = [chunks(by_length), *([chunks(by_beginning)] if share else [])]
    best = min(tried, key=lambda packed: sum(map(cost, packed)))
    return [batch_of(chunk, encoded, rows, closed) for chunk in best]
