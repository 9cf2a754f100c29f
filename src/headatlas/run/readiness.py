"""What the examples of a suite allow with the tokenizer of a model: twins, lent twins, fair options, and the defaults
of a map that follow from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from headatlas.run.context import RunContext
from headatlas.run.nesting import are_nested
from headatlas.run.quantity import ENOUGH_TWINS, paired_items, plan_quantity
from headatlas.suites.audit.audit import Check
from headatlas.suites.suite import HELD_OUT, MAPPED, SPLITS


@dataclass(frozen=True)
class Readiness:
    """One task. `aligned` examples can be measured with their twin, `lent` ones with another example as a twin; in
    `nested` ones an option begins another in tokens. `baseline` and `metric` are what `map` takes unless told."""

    task: str
    examples: int
    aligned: int
    lent: int
    nested: int
    baseline: str
    metric: str

    def columns(self) -> dict[str, Any]:
        """What a table of tasks shows beside what is known without a tokenizer."""
        return {name: value for name, value in asdict(self).items() if name not in ("task", "examples")}

    def checks(self) -> Iterator[Check]:
        """The same as checks of an audit."""
        share, enough = self.aligned / self.examples, ENOUGH_TWINS["twin"]
        yield Check(
            "twins that can be aligned",
            self.task,
            share,
            enough,
            "good" if share >= enough else "warning",
            f"{self.aligned} of {self.examples} examples of {self.task} have a twin that can be aligned with them, "
            f"{self.lent} can be lent another example; good is a share of {enough:g} and above. By default the "
            f"baseline of a map is {self.baseline} and its metric {self.metric}.",
        )
        yield Check(
            "options that begin another",
            self.task,
            self.nested / self.examples,
            0.0,
            "warning" if self.nested else "good",
            f"In {self.nested} of {self.examples} examples of {self.task} an option begins another in tokens. In a "
            "forced choice it counts without the longer one; a margin over such distractors is not fair. Good is 0.",
        )


def readiness(context: RunContext) -> list[Readiness]:
    """Every task of a context that holds all examples of its suite."""
    return [_of_task(context, task) for task in context.tasks]


def _of_task(context: RunContext, task: str) -> Readiness:
    examples = [example for split in SPLITS for example in context.examples(task, split)]
    planned = plan_quantity(context, task)
    counts = {
        kind: sum(len(paired_items(context, task, splits, kind)) for splits in (MAPPED, HELD_OUT))
        for kind in ENOUGH_TWINS
    }
    return Readiness(
        task=task,
        examples=len(examples),
        aligned=counts["twin"],
        lent=counts["pair"],
        nested=sum(are_nested(context.encoder.encode(example)) for example in examples),
        baseline=planned.baseline,
        metric=planned.metric,
    )
