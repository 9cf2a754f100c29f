"""What every method and every evidence test says about itself: the one source for help, tables, report and page.

A declaration is data. It travels in run.json, so an atlas explains itself even where the code that made it is missing.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

# What the numbers of a method are about: what an intervention finds, what a probe finds, what gates decide, or merely
# what a head does.
Kind = Literal["importance", "information", "role", "description"]
# When a head counts as supported by a method, in a consensus of methods. `significant`: q below 0.05 and a value above
# zero. `first`: a rank among the first, for estimates without p. `always`: a value above 0.5 in every seed.
Support = Literal["significant", "first", "always"]
# How the outcomes of a test are laid out; every view knows each of these. `curve`: a number over the count of heads.
# `recovery`: the same for heads that are kept. `matrix`: heads of one task (row), measured on another (column).
# `change`: one change per task and control.
Shape = Literal["curve", "recovery", "matrix", "change"]
# What a head is to a task: it helps, it hurts, it takes over where another one is missing, or none of these.
Role = Literal["helps", "hurts", "backup", "none"]


class Declaration(BaseModel):
    """Unknown fields are refused, nothing changes after it was written."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Measure(Declaration):
    """One kind of number that a method gives for every head."""

    name: str
    meaning: str  # what a large value means, as a sentence
    unit: str
    zero_to_one: bool = False  # drawn on a fixed scale from 0 to 1
    role: Role | None = None  # of the heads for which it is large; where absent, heads help above zero and hurt below

    @property
    def label(self) -> str:
        """For an axis or a heading: the name and, where there is one, the unit."""
        return f"{self.name.replace('_', ' ')} ({self.unit})" if self.unit else self.name.replace("_", " ")


class MethodInfo(Declaration):
    """A method: what it measures, how its heads are ranked, what belongs to it."""

    name: str
    title: str
    summary: str  # one line for help texts
    meaning: str  # what its numbers say, and what they do not, in one or two sentences
    kind: Kind
    measures: tuple[Measure, ...] = Field(min_length=1)
    primary: str  # the measure that ranks the heads and is shown first
    order: Literal["descending", "ascending"] = "descending"  # which end of the primary measure comes first
    priority: int = 0  # of the methods that mapped every head, the one with the highest is the atlas's default
    by_default: bool = True  # part of a map for which no methods are named
    turn: int = 3  # when a map runs it: what is quick first, so that there is something to look at early
    fewest_tasks: int = 1  # that it can map
    most_tasks: dict[str, int] = {}  # preset: how many tasks it maps unless tasks are named; all where absent
    # The rule of support in a consensus. Where absent, a method of importance supports heads by q if it gives one and
    # by rank if not; other methods then have no say.
    support: Support | None = None
    # What its numbers rest on: the way of measuring and the examples. Methods that rest on the same count once in a
    # consensus; one that says nothing rests on itself alone.
    evidence_from: str = ""
    tests: tuple[str, ...] | None = None  # evidence tests that apply; None: every test whose measures it has
    figures: tuple[str, ...] = ()  # figures of its own, by name

    @model_validator(mode="after")
    def _primary_is_a_measure(self) -> Self:
        if self.primary not in {measure.name for measure in self.measures}:
            raise ValueError(f"primary {self.primary!r} is not among its measures")
        return self

    def measure(self, name: str) -> Measure:
        """A measure by name; one that was not declared is described by its name alone."""
        known = {measure.name: measure for measure in self.measures}
        return known.get(name, Measure(name=name, meaning="", unit=""))

    @property
    def ranking(self) -> str:
        """The rule by which heads are ranked, in words."""
        return self.ranking_by(self.primary)

    def ranking_by(self, measure: str) -> str:
        """The rule by which a measure ranks heads: the primary one as declared, all others largest first."""
        smallest = measure == self.primary and self.order == "ascending"
        return f"{'smallest' if smallest else 'largest'} {measure.replace('_', ' ')} first"


class Control(Declaration):
    """What was done in a row of evidence: which heads were chosen, or what was done to them."""

    name: str
    meaning: str


class TestInfo(Declaration):
    """An evidence test: what it asks, what it compares with, and how its outcome is shown."""

    __test__: ClassVar[bool] = False  # pytest must not take it for a test case

    name: str
    title: str  # a heading
    summary: str  # one line for help texts: what is done
    question: str  # what the outcome answers
    shape: Shape
    axis: str = "heads"  # what k counts
    headline: str = "margin"  # the metric that is shown first; the log-probability where a task has no margin
    controls: tuple[Control, ...] = ()
    chosen: tuple[str, ...] = ("top",)  # the controls that take heads chosen by the map
    reference: str | None = "random"  # the control they are compared with
    needs: tuple[str, ...] = ()  # measures that a method must have for the test to apply
    figures: tuple[str, ...] = ()  # by name; a figure of its shape where none is named

    def applies_to(self, method: MethodInfo) -> bool:
        if method.kind == "description":
            return False
        if method.tests is not None:
            return self.name in method.tests
        return set(self.needs) <= {measure.name for measure in method.measures}
