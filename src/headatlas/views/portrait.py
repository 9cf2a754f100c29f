"""What a portrait says, in one sentence put together from what was measured and nothing else."""

from __future__ import annotations

from headatlas.atlas.portraits import InTask, Number, Portrait, Weight
from headatlas.stats import LEVEL
from headatlas.views.metrics import metric
from headatlas.wording import MISSING, decimal, head_name, interval, listed, p_value, percent, signed

FIRST, ELSEWHERE = "the first token", "elsewhere"  # kinds of tokens that say little about a head
WORTH_NAMING = 0.1  # a smaller share of attention is not named
COPIES = 0.5  # a copying score from which on a head is said to write what it reads
MOST_PARTNERS = 3


def sentence(portrait: Portrait, seen: InTask) -> str:
    """Of one head in one task; each part has its number, and parts that were not measured are left out."""
    parts = [
        effect_words(seen),
        route_words(seen),
        look_words(seen.looks),
        copying_words(portrait),
        specific_words(seen),
        *partner_words(seen),
        neutral_words(portrait),
    ]
    return f"{portrait.name}: {'; '.join(part for part in parts if part)}."


def is_sure(number: Number) -> bool:
    """Whether a number is told from zero."""
    return number.p is not None and number.p < LEVEL


def effect_words(seen: InTask) -> str:
    """What the task loses without the head."""
    total, name = seen.total, metric(seen.metric).label
    lost, gained = interval(total.low, total.high), interval(_negative(total.high), _negative(total.low))
    if not is_sure(total):
        change = f"{signed(-total.value)} nats of {name}{_bracketed(gained)}"
        return f"without it {seen.task} changes by {change}, which may be nothing"
    verb, ends = ("loses", lost) if total.value > 0 else ("gains", gained)
    return f"without it {seen.task} {verb} {decimal(abs(total.value))} nats of {name}{_bracketed(ends)}"


def routes(seen: InTask) -> dict[str, float]:
    """The parts of the effect by the way they take to the answer; they add up to it."""
    rest = {"through later heads": seen.total.value - seen.held.value}
    if seen.direct is None:
        return {"directly or through MLPs": seen.held.value, **rest}
    return {"directly": seen.direct.value, "through MLPs": seen.held.value - seen.direct.value, **rest}


def route_words(seen: InTask) -> str | None:
    if not is_sure(seen.total):
        return None
    return "of that " + listed(f"{decimal(value)} {way}" for way, value in routes(seen).items())


def look_words(looks: list[Weight] | None) -> str | None:
    """Where most of the attention goes from where the answer is read; the first token only where nothing else does."""
    if looks is None:
        return None
    told = sorted((look for look in looks if look.text not in (FIRST, ELSEWHERE)), key=lambda look: -look.value)
    if told and told[0].value >= WORTH_NAMING:
        return f"{percent(told[0].value)} of its attention from where the answer is read goes to {told[0].text}"
    for look in looks:
        if look.text == FIRST and look.value >= 0.5:
            return f"{percent(look.value)} of its attention from where the answer is read rests on {FIRST}"
    return None


def copying_words(portrait: Portrait) -> str | None:
    circuit = portrait.circuit
    if circuit is None or abs(circuit.copying) < COPIES:
        return None
    verb = "writes" if circuit.copying > 0 else "suppresses"
    return f"it {verb} what it reads (copying score {signed(circuit.copying)})"


def specific_words(seen: InTask) -> str | None:
    if seen.specific is None:
        return None
    if seen.specific_q is not None and seen.specific_q < LEVEL and seen.specific.value > 0:
        more = f"its share of the effects is {decimal(100 * seen.specific.value, 1)} points larger than in other tasks"
        return f"specific to {seen.task} ({more}, q {p_value(seen.specific_q)})"
    return f"not shown to be specific to {seen.task}"


def partner_words(seen: InTask) -> list[str]:
    """Which heads stand in for it, and which supply it."""
    backups = [
        f"{head_name(one.layer, one.head)} ({signed(one.interaction.value)} nats)"
        for one in seen.backups[:MOST_PARTNERS]
    ]
    suppliers = [
        f"{head_name(one.layer, one.head)} ({signed(one.interaction.value)})" for one in seen.suppliers[:MOST_PARTNERS]
    ]
    words = [f"{listed(backups)} {'stand' if len(backups) > 1 else 'stands'} in for it"] if backups else []
    return words + ([f"it matters less without {listed(suppliers)}"] if suppliers else [])


def neutral_words(portrait: Portrait) -> str:
    lost = portrait.neutral.lost
    if not is_sure(lost):
        return "on plain text it makes no difference that can be told from none"
    return (
        f"on plain text a token {'loses' if lost.value > 0 else 'gains'} {decimal(abs(lost.value), 4)} nats without it"
    )


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _bracketed(ends: str) -> str:
    return "" if ends == MISSING else f" ({ends})"
