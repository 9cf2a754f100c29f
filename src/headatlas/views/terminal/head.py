"""The portrait of one head, as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headatlas.atlas.portraits import Circuit, InTask, Number, Partner, Portrait, Shown, Weight, unpack
from headatlas.views.metrics import metric
from headatlas.views.portrait import sentence
from headatlas.views.quantities import BASELINES
from headatlas.views.terminal.console import plain_table
from headatlas.wording import count, decimal, head_name, interval, p_value, percent, signed

MOST_SHOWN = 2  # examples of each kind
MOST_WORDS = 5  # that an example's answer is read from
VISIBLE = {" ": "·", "\n": "⏎", "\t": "⇥"}


def head_text(portrait: Portrait) -> Group:
    """One section per task, then what does not depend on a task."""
    parts: list[RenderableType] = []
    for seen in portrait.tasks:
        parts += [Text(f"{portrait.name} in {seen.task}", style="bold"), Text(sentence(portrait, seen)), Text("")]
        parts += [_effects(seen), Text("")]
        if seen.looks:
            parts += [_weights("where it looks from where the answer is read", seen.looks), Text("")]
        parts += _partners(seen)
        parts += _examples("Examples that lose most without it", seen.strongest[:MOST_SHOWN])
        parts += _examples("Examples that lose least", seen.weakest[:MOST_SHOWN])
    if portrait.circuit is not None:
        parts += [Text("Over the vocabulary", style="bold"), _circuit(portrait.circuit), Text("")]
    parts += [Text("On plain text", style="bold"), _neutral(portrait)]
    parts += [Text(reason, style="yellow") for reason in portrait.unavailable]
    return Group(*parts)


def _effects(seen: InTask) -> Table:
    name, baseline = metric(seen.metric).label, BASELINES.get(seen.baseline, seen.baseline)
    heading = f"{name}, {count(seen.examples, 'held-out example')}, against {baseline}"
    table = plain_table([heading, "nats", "95 % interval", "p"])
    rows: list[tuple[str, Number | None]] = [
        ("of the intact model", seen.margin),
        ("lost without the head", seen.total),
        ("lost while other heads are held", seen.held),
        ("lost directly, through the final norm alone", seen.direct),
    ]
    for words, number in rows:
        if number is not None:
            p = "" if number is seen.margin else p_value(number.p)
            table.add_row(words, signed(number.value), interval(number.low, number.high, sign=True), p)
    return table


def _weights(heading: str, weights: Sequence[Weight]) -> Table:
    table = plain_table([heading, "share"])
    for weight in sorted(weights, key=lambda weight: -weight.value):
        table.add_row(weight.text, percent(weight.value))
    return table


def _partners(seen: InTask) -> list[RenderableType]:
    """Heads that stand in for it and heads that supply it; who was asked where there are none."""
    if not seen.compared_with:
        return []
    if not seen.backups and not seen.suppliers:
        return [Text(f"It neither backs up nor is supplied by {', '.join(seen.compared_with)}, as far as can be told."),
                Text("")]  # fmt: skip
    table = plain_table(["together with", "", "interaction, nats", "95 % interval", "q"])

    def add(partner: Partner, words: str) -> None:
        number = partner.interaction
        ends = interval(number.low, number.high, sign=True)
        name = head_name(partner.layer, partner.head)
        table.add_row(name, words, signed(number.value), ends, p_value(partner.q))

    for partner in seen.backups:
        add(partner, "stands in for it")
    for partner in seen.suppliers:
        add(partner, "supplies it")
    return [table, Text("")]


def _examples(heading: str, shown: Sequence[Shown]) -> list[RenderableType]:
    if not shown:
        return []
    parts: list[RenderableType] = [Text(heading, style="bold")]
    for example in shown:
        parts.append(_marked(example.prompt, example.changed, example.answer))
        if example.twin is not None:
            parts.append(Text.assemble(("twin: ", "dim"), _marked(example.twin, example.twin_changed, example.foil)))
        change = f"  margin {signed(example.margin)}, without the head {signed(example.without)}"
        parts.append(Text(change))
        if example.attention is not None:
            parts.append(Text(f"  looks at {_looked_at(example.prompt, example.attention)}"))
        if example.promoted:
            tokens = ", ".join(f"{visible(one.text)} {signed(one.value)}" for one in example.promoted)
            parts.append(Text(f"  raises directly {tokens}"))
        if example.suppressed:
            tokens = ", ".join(f"{visible(one.text)} {signed(one.value)}" for one in example.suppressed)
            parts.append(Text(f"  lowers directly {tokens}"))
    return [*parts, Text("")]


def _marked(tokens: Sequence[str], changed: Sequence[int], answer: str | None) -> Text:
    """A text whose changed tokens are underlined, with what is to follow."""
    text = Text("")
    for i, token in enumerate(tokens):
        text.append(token, style="underline" if i in changed else "")
    text.append(f" →{answer}" if answer else "", style="bold")
    return text


def _looked_at(tokens: Sequence[str], attention: str) -> str:
    """The words that the last token looks at most."""
    weights = unpack(attention)[-1]
    strongest = sorted(range(len(weights)), key=lambda i: -weights[i])[:MOST_WORDS]
    return ", ".join(f"{visible(tokens[i])} {percent(weights[i], 0)}" for i in strongest if weights[i] >= 0.01)


def visible(token: str) -> str:
    """A token whose spaces and ends of lines can be seen."""
    return "".join(VISIBLE.get(letter, letter) for letter in token)


def _circuit(circuit: Circuit) -> Group:
    table = plain_table(["reads", "", "raises", "standard deviations"])
    for pair in circuit.pairs:
        table.add_row(visible(pair.read), "→", visible(pair.written), signed(pair.value))
    told = (
        f"copying score {signed(circuit.copying)} (1: writes what it reads; −1: suppresses it); "
        f"{percent(circuit.itself)} of {count(circuit.tokens, 'token')} are among the ten that they raise most; of "
        f"random numbers the first pair would have about {decimal(circuit.by_chance, 1)}"
    )
    return Group(table, Text(told))


def _neutral(portrait: Portrait) -> Group:
    neutral = portrait.neutral
    lost = neutral.lost
    ends = interval(lost.low, lost.high, 4, sign=True)
    how = f"95 % interval {ends}; {count(neutral.texts, 'text')}"
    told = Text(f"A token loses {decimal(lost.value, 4)} nats without it ({how}).")
    return Group(told, *([_weights("where it looks", neutral.looks)] if neutral.looks else []))
