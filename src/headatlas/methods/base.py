"""What a method is: a frozen dataclass of its settings, a declaration, and one verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from headatlas.atlas.declarations import MethodInfo
from headatlas.atlas.records import Diagnostic, Head, HeadMap
from headatlas.atlas.run_record import Quantity
from headatlas.noise import noise_of
from headatlas.stats import Array, summarise

if TYPE_CHECKING:
    from headatlas.run.batches import Batch
    from headatlas.run.context import RunContext
    from headatlas.run.intact import Reader
    from headatlas.run.work import Step


@dataclass(frozen=True)
class Measured:
    """What a method gives back; `quantities` by task, where it measures with one of several metrics and baselines.

    `doubts` says of tasks whose maps failed a check of the method itself why they are not to be read, in a few words.
    """

    maps: list[HeadMap] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)


class Method:
    """The base class of methods. Subclasses are frozen dataclasses whose fields are the method's settings.

    Modules that define methods import torch only inside `measure`, so that help texts and readers of an atlas can read
    declarations without it.
    """

    info: ClassVar[MethodInfo]
    # Settings that a preset changes: {preset: {setting: value}}.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_examples(self, context: RunContext) -> None:
        """Raise what would make `measure` fail on these examples; called before anything is written."""

    def work(self, context: RunContext) -> list[Step] | None:
        """The steps of `measure`, in order, without running them; None where the method does not say."""
        return None

    def read_with_competence(self, context: RunContext, batch: Batch) -> Sequence[Reader]:
        """What `measure` needs of the intact model on a batch with all options (`context.intact_batches`), to be read
        while competence runs it. `measure` then finds the cells of these readers (`reader_cell`), or runs them."""
        return ()

    def measure(self, context: RunContext) -> Measured:
        """Measure every task of the context."""
        raise NotImplementedError


def effect_map(
    info: MethodInfo, task: str, heads: Sequence[Head], effects: Array, groups: Sequence[str], seed: int = 0
) -> HeadMap:
    """The map of a method's primary measure, from effects [example, head]: means, clustered errors and p-values, and
    the noise of all heads together."""
    summary, noise = summarise(effects, groups), noise_of(effects, groups)
    return HeadMap(info.name, info.primary, task, seed, tuple(heads), summary, noise)
