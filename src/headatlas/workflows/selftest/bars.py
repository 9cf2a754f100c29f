"""The bars of the self-test: what has to hold on models with known heads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headatlas.methods import METHODS
from headatlas.planted.record import BarOutcome, Score, SelfTest

LEAST_AUROC = {"ablate": 0.99, "gate": 0.95, "sense": 0.95, "attribute": 0.95}
EXEMPT_WHERE_SATURATED = ("attribute",)  # methods that need not rank heads there, but must flag themselves
LEAST_CLEAN = 0.95  # of the draws of a model where no head matters


@dataclass(frozen=True)
class Bar:
    """`about` gives what the bar is about, with whether it holds: (what, holds). Nothing: the bar was not tried."""

    name: str
    says: str
    about: Callable[[SelfTest], Iterator[tuple[str, bool]]]

    def judge(self, test: SelfTest) -> BarOutcome:
        outcomes = list(self.about(test))
        missed = tuple(what for what, holds in outcomes if not holds)
        return BarOutcome(name=self.name, says=self.says, met=not missed if outcomes else None, missed_by=missed)


def _saturated(test: SelfTest) -> set[str]:
    return {model.name for model in test.models if model.saturated}


def _where(score: Score) -> str:
    return f"{score.method} on {score.model} ({score.task})"


def _signs(test: SelfTest) -> Iterator[tuple[str, bool]]:
    for score in test.scores:
        if score.has_q and score.sign_errors is not None:
            yield f"{_where(score)}: {score.sign_errors}", score.sign_errors == 0


def _auroc(method: str) -> Callable[[SelfTest], Iterator[tuple[str, bool]]]:
    def about(test: SelfTest) -> Iterator[tuple[str, bool]]:
        exempt = _saturated(test) if method in EXEMPT_WHERE_SATURATED else set()
        for score in test.scores:
            if score.method == method and score.auroc is not None and score.model not in exempt:
                yield f"{_where(score)}: {score.auroc:.3f}", score.auroc >= LEAST_AUROC[method]

    return about


def _flags(test: SelfTest) -> Iterator[tuple[str, bool]]:
    for score in test.scores:
        if score.method in EXEMPT_WHERE_SATURATED and score.model in _saturated(test):
            yield f"{_where(score)} is not flagged", score.flagged is True


def is_group_method(name: str) -> bool:
    """Whether a method changes several heads at once, and so could see that one takes over from another."""
    info = METHODS[name].info
    return info.kind == "role" or info.measure(info.primary).role == "backup"


def _backup(test: SelfTest) -> Iterator[tuple[str, bool]]:
    """One outcome for all methods: a single one that names all backup heads, and no head falsely, is enough."""
    tried = [score for score in test.scores if score.backups and is_group_method(score.method)]
    if tried:
        solved = any(score.backups_named == score.backups and not score.false_discoveries for score in tried)
        named = (f"{_where(s)} names {s.backups_named} of {s.backups}, {s.false_discoveries} falsely" for s in tried)
        yield ", ".join(named), solved


def _null(test: SelfTest) -> Iterator[tuple[str, bool]]:
    for null in test.null:
        clean = null.draws - null.with_discovery
        yield f"{null.method}: {clean} of {null.draws} draws", clean >= LEAST_CLEAN * null.draws


BARS = (
    Bar("signs", "no sign error by a method that prints p or q", _signs),
    *(
        Bar(
            f"auroc {method}",
            f"AUROC of {method} at least {least:g} on every model"
            + (" without saturation" if method in EXEMPT_WHERE_SATURATED else ""),
            _auroc(method),
        )
        for method, least in LEAST_AUROC.items()
    ),
    Bar("saturation", "attribution is flagged by its own check of signs where attention is saturated", _flags),
    Bar("backup", "a method that changes several heads at once names the backup head, and no other", _backup),
    Bar("null", f"no discovery in at least {LEAST_CLEAN:.0%} of the draws of a model where no head matters", _null),
)
