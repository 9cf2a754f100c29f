"""The work of exact measurements before they are made: which cells are to be expected, and how many tokens at most.

Which heads are measured on more examples depends on what is measured. The rounds are gone through with noise in place
of effects: heads of all layers are then chosen alike. Attribution predicts no noise, so all heads that may be measured
on every example would be; how many of them to expect is known from maps of the bundled model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headatlas.methods.effects import (
    attribution_cells,
    attribution_load,
    cells_of_own,
    exact_batch_size,
    exact_cells,
    exact_load,
    own_load,
)
from headatlas.methods.measurements import EVERY, alone_by_task
from headatlas.methods.race import MOST_ROUNDS, run_race
from headatlas.methods.rounds import BADLY, EVERY_HEAD, FIFTH, LOOKS, begin_rounds, last_turns, more_turns, run_rounds
from headatlas.run.work import Step
from headatlas.stats import Array

if TYPE_CHECKING:
    from headatlas.methods.effects import Quantities
    from headatlas.methods.measurements import Indices, Measure, Measurements, Part
    from headatlas.methods.race import Race
    from headatlas.run.interventions import Unit
    from headatlas.run.quantity import TaskQuantity

NOISE = 20_905  # of its seeds
# Of the units that the third round may measure, the share that attribution predicts badly: SmolLM2-135M, six tasks
# of the cognitive suite, the strongest 15 % of the heads (single tasks: 0.27 to 0.70); of the strongest 3 %, 0.52.
PREDICTED_BADLY = 0.45
POOR = 1 / 2  # of the tasks, those in which attribution is poor: SmolLM2-135M, three of the same six


def attribution_step(title: str, quantities: Quantities, mirrors: Quantities) -> Step:
    """Attribution of every example, and in the other direction of those that have mirrored quantities."""
    forth, back = attribution_cells(quantities, mirrors)
    loads = [attribution_load(quantities[task], batch, task in mirrors) for task, batch, _ in forth]
    loads += [attribution_load(mirrors[task], batch, both_ways=True) for task, batch, _ in back]
    return Step(title, [cell for _, _, cell in (*forth, *back)], loads=loads)


def exact_step(title: str, quantities: Quantities, units: Sequence[Unit]) -> Step:
    """Exact effects of every unit on every example."""
    return _exact(title, quantities, dict.fromkeys(quantities, units), {}, {})


def _exact(
    title: str,
    quantities: Quantities,
    units: Mapping[str, Sequence[Unit]],
    own: Quantities,
    own_units: Mapping[str, Sequence[Sequence[Unit]]],
    most: int | None = None,
) -> Step:
    """Effects of units on examples, and on those of `own` of the units that each of them has."""
    cells, own_cells = exact_cells(quantities, units), cells_of_own(own, own_units)
    loads = [exact_load(quantities[name], units[name], batch) for name, batch, _ in cells]
    loads += [own_load(own[task], own_units[task], batch) for task, batch, _ in own_cells]
    return Step(title, [cell for _, _, cell in (*cells, *own_cells)], most, loads)


def round_steps(
    title: str,
    quantities: Quantities,
    mirrors: Quantities,
    kinds: Sequence[Sequence[Unit]],
    turns: int,
    thorough: float,
    seed: int,
    both_ways: bool = False,
) -> list[Step]:
    """The steps of `measure_in_rounds`."""
    units = [unit for kind in kinds for unit in kind]
    # A later round leaves out the examples of an earlier one, and there is at least one.
    longest = max(len(q.items) for q in quantities.values())
    last = last_turns(turns, longest)
    most_examples = iter((turns, more_turns(turns) - turns, (longest if last == EVERY else last) - 1))

    def most(whose: str, parts: Sequence[Part]) -> int:
        examples = next(most_examples)
        drawn = [part for part in parts if not part.alone]
        tokens = sum(most_exact_tokens(quantities[p.task], examples, units, len(p.units)) for p in drawn)
        return tokens + sum(_most_look_tokens(quantities[p.task], len(p.units)) for p in drawn if whose == FIFTH)

    def run(state: dict[str, Measurements], measure: Measure, steps: list[Step]) -> None:
        def at_twins(tasks: Sequence[str]) -> dict[str, Array]:
            if mirrors and not both_ways:
                steps.append(_twins_step(f"Attribution at the twins{title}", mirrors, expected_poor(tasks)))
            return {}

        run_rounds(state, [*map(len, kinds)], turns, thorough, measure, at_twins)

    return _rehearse(title, quantities, mirrors if both_ways else {}, units, turns, seed, run, most)


def _twins_step(title: str, mirrors: Quantities, poor: Sequence[str]) -> Step:
    """Attribution at the twins, which only tasks of `poor` attribution need."""
    cells, _ = attribution_cells(mirrors, {})
    loads = [attribution_load(mirrors[task], batch, both_ways=False) for task, batch, _ in cells]
    expected = [cell for task, _, cell in cells if task in poor]
    return Step(title, expected, sum(cell.tokens for _, _, cell in cells), loads)


def race_steps(
    title: str,
    quantities: Quantities,
    mirrors: Quantities,
    kinds: Sequence[Sequence[Unit]],
    race: Race,
    seed: int,
) -> list[Step]:
    """The steps of `measure_in_race`. Noise settles nothing, so all of the budget is spent."""
    units = [unit for kind in kinds for unit in kind]
    whole = iter((sum(_most_race_tokens(q, race) for q in quantities.values() if q.items),))

    def most(whose: str, parts: Sequence[Part]) -> int:
        if whose == EVERY_HEAD:
            return sum(most_exact_tokens(quantities[p.task], race.turns, units, len(p.units)) for p in parts)
        return next(whole, 0)  # the bound is one of all rounds together

    def run(state: dict[str, Measurements], measure: Measure, _: list[Step]) -> None:
        run_race(state, race, measure)

    return _rehearse(title, quantities, mirrors, units, race.turns, seed, run, most)


def _rehearse(
    title: str,
    quantities: Quantities,
    mirrors: Quantities,
    units: Sequence[Unit],
    turns: int,
    seed: int,
    run: Callable[[dict[str, Measurements], Measure, list[Step]], None],
    most: Callable[[str, Sequence[Part]], int],
) -> list[Step]:
    """Attribution, and what `run` would measure if effects were noise; `most` bounds the tokens of each round.

    To noise attribution is poor in all tasks; looks are expected in a part of them.
    """
    steps = [attribution_step(f"Attribution{title}", quantities, mirrors)]
    noise = {
        task: _noise(number, len(q.items), _heads(q)) for number, (task, q) in enumerate(quantities.items()) if q.items
    }

    def note(whose: str, parts: Sequence[Part]) -> Sequence[Array]:
        named = {str(number): part for number, part in enumerate(parts) if len(part.examples) and not part.alone}
        some = {name: quantities[part.task].only(part.examples.tolist()) for name, part in named.items()}
        expected = {n: expected_units(part.units) if whose == BADLY else part.units for n, part in named.items()}
        chosen = {name: [units[i] for i in numbers] for name, numbers in expected.items()}
        poor = expected_poor([*noise]) if whose == FIFTH else [*noise]
        alone = {task: looks for task, looks in alone_by_task(parts).items() if task in poor}
        own = {task: quantities[task].only(examples) for task, (examples, _) in alone.items()}
        own_units = {task: [[units[i] for i in some] for some in numbers] for task, (_, numbers) in alone.items()}
        steps.append(_exact(f"Exact effects{title}, {whose}", some, chosen, own, own_units, most(whose, parts)))
        return [_noise(len(steps), len(part.examples), len(part.units)) for part in parts]

    if noise:
        run(begin_rounds(noise, {}, quantities, units, turns, seed), note, steps)
    return steps


def expected_poor(tasks: Sequence[str]) -> Sequence[str]:
    """As many of the tasks as attribution is expected to be poor in, at least one."""
    return tasks[: max(1, round(POOR * len(tasks)))]


def expected_units(units: Indices) -> Indices:
    """As many of the units as attribution is expected to predict badly, at least one, of all layers alike."""
    count = max(1, round(PREDICTED_BADLY * len(units)))
    return units[((np.arange(count) + 0.5) * len(units) / count).astype(int)] if len(units) else units


def _most_race_tokens(quantity: TaskQuantity, race: Race) -> int:
    """Tokens that a race cannot exceed after its first round: each effect a whole forward of the longest example, and
    in each round the prefix, the twin and the prompt of every example."""
    singles = quantity.batches(1)  # one example each
    return _longest(quantity) * (round(race.budget * len(singles) * race.heads) + 3 * len(singles) * MOST_ROUNDS)


def _most_look_tokens(quantity: TaskQuantity, units: int) -> int:
    """Tokens that looks at so many units cannot exceed: each effect a whole forward of the longest example, and the
    prefix, the twin and the prompt of every example that is looked at."""
    effects = LOOKS * units
    return _longest(quantity) * (effects + 3 * min(effects, len(quantity.items)))


def _longest(quantity: TaskQuantity) -> int:
    """Tokens of the longest example, with all its rows."""
    return max(batch.ids.numel() for batch in quantity.batches(1))


def most_exact_tokens(quantity: TaskQuantity, examples: int, units: Sequence[Unit], count: int) -> int:
    """Tokens that no choice of so many examples and of at most `count` units exceeds.

    The longest examples, the lowest layers, and in each batch as much padding as is allowed.
    """
    model, singles = quantity.context.model, quantity.batches(1)  # one example each
    examples = min(examples, len(singles))
    layers, sharing = model.n_layers, model.sharing.prefix
    rows, widths = (np.array([batch.ids.shape[axis] for batch in singles]) for axis in (0, 1))
    starts = np.array([quantity.prefix(batch) if sharing else 0 for batch in singles])
    depths = np.cumsum(sorted(((layers - layer) / layers for layer, _ in units), reverse=True)[:count])
    passes = 2 + depths[:, None]  # [units, 1]: of the part after the prefix
    overhead = np.array([exact_batch_size(number, layers)[1] for number in range(1, len(depths) + 1)])
    padded = _largest(rows * (starts.min() + (widths.max() - starts.min()) * passes), examples)
    if not sharing:  # then a batch may be padded by all of the prefix
        return round(padded.max()) + examples
    apart = _largest(rows * (starts + (widths - starts) * passes), examples) + examples // 2 * overhead * passes[:, 0]
    return round(np.minimum(apart, padded).max()) + examples  # the cost of a cell is rounded


def _largest(costs: Array, count: int) -> Array:
    """The sum of the largest entries of each row."""
    return np.sort(costs, axis=1)[:, ::-1][:, :count].sum(1)


def _noise(number: int, rows: int, columns: int) -> Array:
    return np.random.default_rng([NOISE, number]).normal(size=(rows, columns))


def _heads(quantity: TaskQuantity) -> int:
    return len(quantity.context.heads)
