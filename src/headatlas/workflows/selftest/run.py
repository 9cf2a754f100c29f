"""`headatlas selftest`: map every planted model by every method, compare with the truth, judge."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.records import COMPETENT
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
PAIR = ("keep", "forget")  # settings of a method that maps one task against another


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
    reporter = reporter or Reporter()
    began, worked = time.monotonic(), time.process_time()
    chosen = [PLANTED[name] for name in dict.fromkeys(models or PLANTED)]
    names = _checked(methods, chosen) if methods else testable_methods()
    truths: list[ModelTruth] = []
    scores: list[Score] = []
    for planted in chosen:
        truth = planted.truth()
        shown = {task: round(value, 4) for task, value in truth.margins.items()}
        truths.append(ModelTruth(name=planted.name, shows=planted.shows, saturated=planted.saturated, margins=shown))
        with tempfile.TemporaryDirectory() as folder, reporter.spinner(f"Mapping the planted model {planted.name}"):
            scores += [
                score_map(atlas, method, task, planted.name, truth)
                for atlas in _maps(planted, names, Path(folder))
                for method in atlas.methods
                for task in atlas.tasks_of(method)
            ]
    test = SelfTest(
        version=version("headatlas"),
        seconds=0.0,
        processor_seconds=0.0,
        models=tuple(truths),
        scores=tuple(scores),
        null=tuple(_null(chosen, scores, draws, reporter)),
    )
    bars = tuple(bar.judge(test) for bar in BARS)
    seconds, processor = time.monotonic() - began, time.process_time() - worked
    return test.model_copy(
        update={"bars": bars, "seconds": round(seconds, 1), "processor_seconds": round(processor, 1)}
    )


def testable_methods() -> list[str]:
    """The methods that make maps of heads and need no settings other than the tasks of a planted model."""
    return [name for name, method in METHODS.items() if method.info.kind != "description" and _is_ready(method)]


def _is_ready(method: type[Method]) -> bool:
    settings = _settings(method, ("one task", "another"))[0]
    required = {f.name for f in fields(method) if f.default is MISSING and f.default_factory is MISSING}  # type: ignore
    try:
        return required <= set(settings) and bool(method(**settings))
    except UsageError:  # it needs other settings
        return False


def _checked(names: Sequence[str], chosen: Sequence[Planted]) -> list[str]:
    most_tasks = max(len(planted.suite(0).tasks) for planted in chosen)
    for name in names:
        info = METHODS[name].info
        if name not in testable_methods():
            raise UsageError(
                f"The method {name!r} cannot be tested on planted models: it makes no maps, or needs settings. Choose "
                f"from: {', '.join(testable_methods())}."
            )
        if info.fewest_tasks > most_tasks:
            raise UsageError(
                f"The method {name!r} compares tasks, and no model that was asked for has {info.fewest_tasks}. Leave "
                "out --model to test it on all planted models."
            )
    return list(dict.fromkeys(names))


def _maps(planted: Planted, names: Sequence[str], folder: Path) -> Iterator[Atlas]:
    """All tasks by the methods that can map so few: one atlas, and one more for every pair of tasks."""
    model, suite = planted.build(0), planted.suite(0)
    settings = {
        name: _settings(METHODS[name], suite.tasks)
        for name in names
        if METHODS[name].info.fewest_tasks <= len(suite.tasks)
    }
    plans = [{name: choices[0] for name, choices in settings.items() if len(choices) == 1}]
    plans += [{name: choice} for name, choices in settings.items() if len(choices) > 1 for choice in choices]
    for number, plan in enumerate(plans):
        if plan:
            out = folder / str(number)
            atlas = map_heads(
                model, suite, list(plan), out=out, settings=plan, report=False, reporter=Reporter(quiet=True)
            )
            if unable := [task for task, verdict in atlas.verdicts.items() if verdict != COMPETENT]:
                raise HeadAtlasError(f"The planted model {planted.name!r} cannot do its own task {unable[0]!r}.")
            yield atlas


def _settings(method: type[Method], tasks: Sequence[str]) -> list[dict[str, Any]]:
    """The settings with which a method maps every task; several where it maps one task against another."""
    known = {field.name for field in fields(method)}  # type: ignore[arg-type]
    if known.issuperset(PAIR):
        return [dict(zip(PAIR, pair, strict=True)) for pair in zip(tasks, (*tasks[1:], tasks[0]), strict=True)]
    return [{"tasks": tuple(tasks)} if "tasks" in known else {}]


def _null(chosen: Sequence[Planted], scores: Sequence[Score], draws: int, reporter: Reporter) -> list[NullDraws]:
    """The draws of the null model, for the methods that print p or q of it."""
    null = next((planted for planted in chosen if planted.name == NULL), None)
    with_p = [score.method for score in scores if score.model == NULL and score.has_q]
    if null is None or not with_p:
        return []
    methods = choose_methods(list(dict.fromkeys(with_p)), DEFAULT, null.suite(0), {}, {})
    return draw_null(null, methods, draws, reporter)
