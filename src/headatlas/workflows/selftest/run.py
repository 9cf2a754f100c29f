"""`headatlas selftest`: map every planted model by every method, compare with the truth, judge."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import MISSING, fields
from importlib.metadata import version
from pathlib import Path

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.methods import METHODS
from headatlas.methods.base import Method
from headatlas.planted import PLANTED
from headatlas.planted.base import Planted
from headatlas.planted.record import ModelTruth, NullDraws, Score, SelfTest
from headatlas.progress import Reporter
from headatlas.workflows.choose_methods import choose_methods
from headatlas.workflows.map import map_heads
from headatlas.workflows.presets import DEFAULT
from headatlas.workflows.selftest.bars import BARS
from headatlas.workflows.selftest.null import draw_null
from headatlas.workflows.selftest.score import score_map

NULL = "null"  # the planted model that is drawn again and again
DRAWS = 100


def selftest(
    models: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    *,
    draws: int = DRAWS,
    reporter: Reporter | None = None,
) -> SelfTest:
    """Map planted models (all unless named) by methods (all that make maps unless named) and compare with the truth.

    `draws` draws of the model where no head matters say how often a method that prints p discovers one there; this is
    left out unless that model is among `models`.
    """
    reporter, began = reporter or Reporter(), time.monotonic()
    chosen = [PLANTED[name] for name in (models if models is not None else PLANTED)]
    names = _checked(methods) if methods is not None else testable_methods()
    truths: list[ModelTruth] = []
    scores: list[Score] = []
    for planted in chosen:
        truth = planted.truth()
        shown = {task: round(value, 4) for task, value in truth.margins.items()}
        truths.append(ModelTruth(name=planted.name, shows=planted.shows, saturated=planted.saturated, margins=shown))
        with tempfile.TemporaryDirectory() as folder, reporter.spinner(f"Mapping the planted model {planted.name}"):
            atlas = _map(planted, names, Path(folder) / "atlas")
            if atlas is None:
                continue
            scores += [
                score_map(atlas, method, task, planted.name, truth)
                for method in atlas.methods
                for task in atlas.tasks_of(method)
            ]
    test = SelfTest(
        version=version("headatlas"),
        seconds=0.0,
        models=tuple(truths),
        scores=tuple(scores),
        null=tuple(_null(chosen, scores, draws, reporter)),
    )
    bars = tuple(bar.judge(test) for bar in BARS)
    return test.model_copy(update={"bars": bars, "seconds": round(time.monotonic() - began, 1)})


def testable_methods() -> list[str]:
    """The methods that make maps of heads and can do so without being told more."""
    return [name for name, method in METHODS.items() if method.info.kind != "description" and _is_ready(method)]


def _is_ready(method: type[Method]) -> bool:
    try:
        method()
    except UsageError:  # it needs settings, such as the names of tasks
        return False
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(method))  # type: ignore


def _checked(names: Sequence[str]) -> list[str]:
    for name in names:
        METHODS[name]
        if name not in testable_methods():
            raise UsageError(
                f"The method {name!r} cannot be tested on planted models: it makes no maps, or needs settings. Choose "
                f"from: {', '.join(testable_methods())}."
            )
    return list(names)


def _map(planted: Planted, names: Sequence[str], out: Path) -> Atlas | None:
    """None where none of the methods can map so few tasks."""
    suite = planted.suite(0)
    usable = [name for name in names if METHODS[name].info.fewest_tasks <= len(suite.tasks)]
    if not usable:
        return None
    atlas = map_heads(planted.build(0), suite, usable, out=out, report=False, reporter=Reporter(quiet=True))
    if missing := set(suite.tasks) - set(atlas.tasks):
        raise HeadAtlasError(f"The planted model {planted.name!r} cannot do its own task {min(missing)!r}.")
    return atlas


def _null(chosen: Sequence[Planted], scores: Sequence[Score], draws: int, reporter: Reporter) -> list[NullDraws]:
    """The draws of the null model, for the methods that print p or q of it."""
    null = next((planted for planted in chosen if planted.name == NULL), None)
    with_p = [score.method for score in scores if score.model == NULL and score.has_q]
    if null is None or not with_p:
        return []
    methods = choose_methods(list(dict.fromkeys(with_p)), DEFAULT, null.suite(0), {}, {})
    return draw_null(null, methods, draws, reporter)
