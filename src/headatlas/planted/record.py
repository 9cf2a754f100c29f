"""What a self-test found, as a typed record; and the record of the self-test that this version was released with."""

from __future__ import annotations

import functools
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

SCHEMA = 1


class Record(BaseModel):
    """Unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Score(Record):
    """How well the map of one task of one planted model agrees with the truth.

    `positives` are the heads that its primary measure should put first, those with the roles `looks_for`. `auroc`,
    `average_precision` and `recall` (of the first `positives` heads) are about those; None where there are none. Backup
    heads count neither way, except for a method that looks for them. `sign_errors` are heads said to help that hurt, or
    the other way round: among those with q < 0.05 where the method gives q, else among all planted heads; None for a
    method that says nothing of signs. Roles are those that it gives, or that q and sign imply; None for a method with
    neither. `false_discoveries` are those of the `irrelevant` heads, which do not matter, that are said to.
    """

    method: str
    model: str
    task: str
    looks_for: tuple[str, ...]
    heads: int
    positives: int
    irrelevant: int
    auroc: float | None
    average_precision: float | None
    recall: float | None
    has_q: bool
    sign_errors: int | None
    roles_right: int | None
    roles_wrong: int | None
    false_discoveries: int | None
    backups: int  # backup heads of the task
    backups_named: int  # those of them that the method says matter
    flagged: bool | None  # its own check of signs fails; None where it has none


class NullDraws(Record):
    """Draws of a model for which no head matters, and in how many of them a method discovered one (q < 0.05)."""

    method: str
    draws: int
    with_discovery: int


class BarOutcome(Record):
    """A bar, and by what it was missed; `met` is None where nothing that it is about was run."""

    name: str
    says: str
    met: bool | None
    missed_by: tuple[str, ...] = ()


class ModelTruth(Record):
    """A planted model as it was tested: the intact margin of every task in nats."""

    name: str
    shows: str
    saturated: bool
    margins: dict[str, float]


class SelfTest(Record):
    """One self-test."""

    schema_version: int = SCHEMA
    version: str  # of headatlas
    seconds: float
    processor_seconds: float  # on all cores; it depends less on what else a machine does
    models: tuple[ModelTruth, ...]
    scores: tuple[Score, ...]
    null: tuple[NullDraws, ...]
    bars: tuple[BarOutcome, ...] = ()

    @property
    def passed(self) -> bool:
        return all(bar.met is not False for bar in self.bars)

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(score.method for score in self.scores))


@functools.cache
def packaged() -> SelfTest:
    """The self-test of this version."""
    return SelfTest.model_validate_json(files("headatlas.planted").joinpath("record.json").read_text())
