"""What could not be compared and why, and what to keep in mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headatlas.patterns.compare.result import By, ComparedTask
from headatlas.patterns.compare.sides import Side, labels, same_unit
from headatlas.stats import FEWEST_GROUPS
from headatlas.wording import listed


def remarks_of(
    first: Side, second: Side, by: By, tasks: Sequence[ComparedTask], left_out: Sequence[str]
) -> Iterator[str]:
    """One sentence or two for each."""
    if left_out:
        what = "heads" if by == "heads" else "layers"
        yield f"{listed(left_out)} cannot be compared: too few {what} in common, or the same value everywhere."
    yield from _models(first, second, by)
    yield from _intervals(first, second, tasks)
    if by == "heads":
        yield from _differences(first, second, tasks)
    yield from _examples(first, second, by, tasks)


def _models(first: Side, second: Side, by: By) -> Iterator[str]:
    runs = first.atlas.run, second.atlas.run
    if by == "depth":
        yield (
            "Heads of the two cannot be matched, so nothing is said about single heads. Mass is the sum of |value| and "
            "counts noise too: the noisier map looks flatter."
        )
    elif runs[0].model.fingerprint != runs[1].model.fingerprint:
        yield (
            "The weights differ. Head by head is right for checkpoints and edits of one model; heads of models that "
            "were trained apart have only their place in common: compare those `by` depth."
        )
    if not _same_suite(first, second):
        yield "The suites differ: a task of the same name may have other examples."


def _intervals(first: Side, second: Side, tasks: Sequence[ComparedTask]) -> Iterator[str]:
    """Why correlations have no interval."""
    bare = [task.task for task in tasks if task.correlation.low != task.correlation.low]
    if not bare:
        return
    where = "" if len(bare) == len(tasks) else f" for {listed(bare)}"
    reasons = []
    for side, label in zip((first, second), labels(first, second), strict=True):
        if any(side.noise(side.maps[task]) is None for task in bare):
            if (side.atlas.path / "noise.parquet").exists():
                reasons.append(f"{side.measure} by {side.method} ({label}) does not say how examples move all heads")
            else:
                reasons.append(
                    f"the atlas {side.atlas.path} does not say how examples move all heads together (it has no "
                    "noise.parquet; map again, and what is measured already is reused)"
                )
    why = "; ".join(dict.fromkeys(reasons)) or f"fewer than {FEWEST_GROUPS} groups of examples"
    yield f"No interval of the correlation{where}: {why}."


def _differences(first: Side, second: Side, tasks: Sequence[ComparedTask]) -> Iterator[str]:
    """Why no head is said to differ."""
    untested = [task.task for task in tasks if not task.tested]
    other_unit = [task for task in untested if not same_unit(first, second, task)]
    if other_unit:
        where = "" if len(other_unit) == len(tasks) else f" for {listed(other_unit)}"
        yield f"No differences of heads{where}: the two are not in the same unit, metric and baseline."
    bare = [
        f"{side.measure} by {side.method} ({label})"
        for side, label in zip((first, second), labels(first, second), strict=True)
        if any(not side.maps[task].has_errors for task in untested if task not in other_unit)
    ]
    if bare:
        yield f"No differences of heads: {listed(bare)} has no standard errors."


def _examples(first: Side, second: Side, by: By, tasks: Sequence[ComparedTask]) -> Iterator[str]:
    """Whether both are of the same examples."""
    paired = [task.task for task in tasks if task.same_examples]
    if paired:
        where = "" if len(paired) == len(tasks) else f" of {listed(paired)}"
        tests = " Differences are tested example by example." if by == "heads" else ""
        yield (
            f"Both maps{where} are of the same examples and share their noise: with other examples for each they "
            f"would correlate less.{tests}"
        )
    elif by == "heads" and _same_suite(first, second) and any(_unsure(first, second, task) for task in tasks):
        yield (
            "Both errors of a difference count in full. Where the two share examples that is cautious: fewer heads "
            "differ than could be shown."
        )


def _unsure(first: Side, second: Side, task: ComparedTask) -> bool:
    """Whether differences were tested without knowing whether the examples are the same."""
    noises = [side.noise(side.maps[task.task]) for side in (first, second)]
    return task.tested and not all(noise is not None and noise.examples for noise in noises)


def _same_suite(first: Side, second: Side) -> bool:
    return first.atlas.run.suite.fingerprint == second.atlas.run.suite.fingerprint
