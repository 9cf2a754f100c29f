"""The two maps of a comparison: which atlas, method, measure and seed, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from headatlas.atlas.run_record import Quantity
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.patterns.compare.noise import Noise, read_noise
from headatlas.patterns.maps import TaskMap, read_maps, read_seed_maps
from headatlas.wording import listed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


@dataclass(frozen=True)
class Side:
    """One of the two sides: the maps of one measure of one method of an atlas, of one seed or the mean of all."""

    atlas: Atlas
    method: str
    measure: str
    seed: int | None = None

    @cached_property
    def maps(self) -> dict[str, TaskMap]:
        """By task."""
        if self.seed is None:
            return {one.task: one for one in read_maps(self.atlas, self.method, self.measure)}
        tasks = self.atlas.tasks_of(self.method)
        by_seed = {task: read_seed_maps(self.atlas, self.method, self.measure, task) for task in tasks}
        return {task: maps[self.seed] for task, maps in by_seed.items() if self.seed in maps}

    def noise(self, task_map: TaskMap) -> Noise | None:
        return read_noise(self.atlas, self.method, self.measure, task_map, self.seed)

    def quantity(self, task: str) -> Quantity | None:
        """The metric and the baseline of a task, where the run says so."""
        return self.atlas.run.quantities.get(self.method, {}).get(task)

    @property
    def unit(self) -> str:
        return self.atlas.info(self.method).measure(self.measure).unit


def choose_side(atlas: Atlas, method: str | None, measure: str | None, seed: int | None) -> Side:
    """A side as asked for, or the default method, its primary measure and the mean over seeds."""
    method = atlas.choose_method(method)
    measure = atlas.choose_measure(method, measure)
    rows = atlas.scores[(atlas.scores["method"] == method) & (atlas.scores["measure"] == measure)]
    seeds = sorted(rows["seed"].unique().tolist())
    if seed is not None and seed not in seeds:
        raise UsageError(
            f"Seed {seed} was asked for; the maps of {method} in {atlas.path} have seed {listed(map(str, seeds))}."
        )
    return Side(atlas, method, measure, seed)


def same_unit(first: Side, second: Side, task: str) -> bool:
    """Whether values of both can be subtracted: the same unit, metric and baseline."""
    return first.unit == second.unit and first.quantity(task) == second.quantity(task)


def check_different(first: Side, second: Side) -> None:
    """Refuse to compare a map with itself."""
    same_atlas = first.atlas.path.resolve() == second.atlas.path.resolve()
    if same_atlas and (first.method, first.measure, first.seed) == (second.method, second.measure, second.seed):
        raise UsageError(
            f"Both sides are the same maps: {first.measure} by {first.method} in {first.atlas.path}. Give another "
            "atlas, or a `method_b`, `measure_b` or `seed_b`."
        )


def common_tasks(first: Side, second: Side, tasks: Sequence[str] | None) -> list[str]:
    """The tasks that both sides have maps of, or those of them that were asked for."""
    mapped = [list(side.maps) for side in (first, second)]
    if tasks:
        named = list(dict.fromkeys(first.atlas.choose_task(name) for name in tasks))
        for side, of_side in zip((first, second), mapped, strict=True):
            if missing := [task for task in named if task not in of_side]:
                raise HeadAtlasError(
                    f"{side.method} has no map of {listed(missing)} in {side.atlas.path}; it has {listed(of_side)}."
                )
        return named
    common = [task for task in mapped[0] if task in mapped[1]]
    if not common:
        raise HeadAtlasError(
            f"The two have no task in common: {first.method} in {first.atlas.path} has {listed(mapped[0])}, "
            f"{second.method} in {second.atlas.path} has {listed(mapped[1])}."
        )
    return common


def labels(first: Side, second: Side) -> tuple[str, str]:
    """What each side is called: what tells it from the other, and no more."""
    runs = [side.atlas.run for side in (first, second)]
    models = [run.model.name for run in runs]
    folders = [side.atlas.path.resolve().name for side in (first, second)]
    same_atlas = first.atlas.path.resolve() == second.atlas.path.resolve()
    names = []
    for i, side in enumerate((first, second)):
        words = [] if same_atlas else [models[i] if models[0] != models[1] else folders[i]]
        words += [side.method] if first.method != second.method else []
        words += [side.measure] if first.method == second.method and first.measure != second.measure else []
        words += [f"seed {side.seed}"] if side.seed is not None and first.seed != second.seed else []
        names.append(", ".join(words) or side.method)
    return (names[0], names[1]) if names[0] != names[1] else (f"{names[0]} (first)", f"{names[1]} (second)")
