"""Tasks for planted models, with twins. Words are drawn at random: none is the answer more often than others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

from headatlas.planted.words import COLOURS, FILLERS, NAMES, ORDINALS
from headatlas.suites.example import Example, Twin

EXAMPLES = 150  # of a task


def lookup(
    seed: int, task: str = "Lookup", command: str = "give", say: dict[str, str] | None = None, ending: str = ""
) -> Iterator[Example]:
    """Names with their colours, then a name: which colour? The twin has two of the names exchanged.

    `say` translates the colours into what is to be said; `ending` is a word after the name.
    """
    say = say or {colour: colour for colour in COLOURS}
    for number, rng, colours in _draws(seed, task):
        names = rng.sample(NAMES, len(colours))
        order = rng.sample(range(len(colours)), len(colours))  # of the pairs; 0 is asked for, 1 is the twin's
        exchanged = [names[1], names[0], *names[2:]]
        opening = rng.choice((*FILLERS, None))
        prompts = []
        for owners in (names, exchanged):
            pairs = [word for i in order for word in (owners[i], colours[i])]
            prompts.append([*([opening] if opening else []), *pairs, command, names[0], *ending.split()])
        said = [say[colour] for colour in colours]
        yield _example(task, number, prompts, said, f"{len(colours)} pairs{', opened' if opening else ''}")


def pick(seed: int, task: str = "Pick") -> Iterator[Example]:
    """Colours in a row, then an ordinal: which one? The twin has two of the colours exchanged."""
    for number, rng, colours in _draws(seed, task, most=5):
        order = rng.sample(range(len(colours)), len(colours))
        row, exchanged = [colours[i] for i in order], [colours[{0: 1, 1: 0}.get(i, i)] for i in order]
        end = [rng.choice(FILLERS)] * rng.randint(0, 1) + [ORDINALS[order.index(0)]]
        template = f"{len(colours)} colours{', filler' if len(end) > 1 else ''}"
        yield _example(task, number, [row + end, exchanged + end], list(colours), template)


def spot(seed: int, task: str = "Spot") -> Iterator[Example]:
    """Names and a single colour: which colour was seen? The twin has another."""
    for number, rng, colours in _draws(seed, task):
        names = rng.sample(NAMES, rng.randint(3, 5))
        where = rng.randint(0, len(names))
        prompts = [[*names[:where], colour, *names[where:], "seen"] for colour in colours[:2]]
        yield _example(task, number, prompts, list(colours), f"{len(names)} names")


def recite(seed: int, task: str = "Recite", examples: int = EXAMPLES) -> Iterator[Example]:
    """Names, fillers, and a name at the end whose colour the model knows by heart. The twin ends with another name."""
    for number, rng, colours in _draws(seed, task, examples=examples):
        about = [NAMES[COLOURS.index(colour)] for colour in colours]
        others = rng.sample([name for name in NAMES if name not in about[:2]], rng.randint(2, 4))
        opening = [*others, rng.choice(FILLERS)]
        yield _example(task, number, [[*opening, name] for name in about[:2]], list(colours), f"{len(others)} names")


def _draws(
    seed: int, task: str, most: int = 4, examples: int = EXAMPLES
) -> Iterator[tuple[int, random.Random, tuple[str, ...]]]:
    """For every example a number, its random generator, and its colours: the answer, the twin's answer, others."""
    rng = random.Random(f"{seed} {task}")
    pairs = list(combinations(COLOURS, 2))
    for number in range(examples):
        if number % len(pairs) == 0:
            rng.shuffle(pairs)
        pair = rng.sample(pairs[number % len(pairs)], 2)
        others = rng.sample([colour for colour in COLOURS if colour not in pair], rng.randint(1, most - 2))
        yield number, rng, (*pair, *others)


def _example(task: str, number: int, prompts: list[list[str]], said: list[str], template: str) -> Example:
    """The first of the prompts with its answer, the second as its twin. The two answers make the group."""
    answer, foil, *others = (f" {word}" for word in said)
    return Example(
        id=f"{task}-{number}", task=task, prompt=" ".join(prompts[0]), answer=answer, distractors=(foil, *others),
        counterfactual=Twin(prompt=" ".join(prompts[1]), answer=foil), group="/".join((task, *sorted(said[:2]))),
        template=template,
    )  # fmt: skip
