"""From names and settings to methods: presets, the user's settings, and what each method can map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.methods import METHODS
from headatlas.methods.base import Method
from headatlas.suites.suite import Suite

Settings = Mapping[str, Mapping[str, Any]]  # by method


def choose_methods(
    wanted: Sequence[str | Method] | None,
    preset: str,
    suite: Suite,
    settings: Settings,
    general: Mapping[str, Any],
) -> tuple[Method, ...]:
    """The methods asked for, or all that are part of every map, with the preset's settings and then the user's.

    `general` are settings for every method that has them, such as the baseline; None leaves the preset's.
    """
    names = wanted if wanted is not None else [name for name, method in METHODS.items() if method.info.by_default]
    methods = tuple(
        _build(method, preset, suite, settings.get(method, {}), general) if isinstance(method, str) else method
        for method in names
    )
    chosen = [method.info.name for method in methods]
    if repeated := {name for name in chosen if chosen.count(name) > 1}:
        raise UsageError(f"The method {min(repeated)!r} was asked for twice. Make an atlas for each of its settings.")
    if not chosen:
        raise UsageError(f"No method was asked for. Known: {', '.join(METHODS)}.")
    if unused := set(settings) - set(chosen):
        method = min(unused)
        if method not in METHODS:
            raise unknown("method", method, METHODS)
        raise UsageError(
            f"The method {method!r} was given settings ({', '.join(settings[method]) or 'none'}), but it is not among "
            f"those asked for: {', '.join(chosen)}. Ask for {method} too, or leave its settings out."
        )
    return methods


def _build(name: str, preset: str, suite: Suite, settings: Mapping[str, Any], general: Mapping[str, Any]) -> Method:
    cls = METHODS[name]
    known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    if foreign := set(settings) - known:
        raise unknown(f"setting of {name}", min(foreign), known)
    shared = {key: value for key, value in general.items() if key in known and value is not None}
    return cls(**{**cls.presets.get(preset, {}), **_tasks(cls, preset, suite), **shared, **settings})


def _tasks(cls: type[Method], preset: str, suite: Suite) -> dict[str, tuple[str, ...]]:
    """The tasks of a method that can afford only some of them: those the suite shows first."""
    most = cls.info.most_tasks.get(preset)
    if most is None or len(suite.tasks) <= most:
        return {}
    return {"tasks": tuple(sorted(suite.tasks, key=lambda task: task not in suite.knowledge.showcase)[:most])}


def in_turn(methods: Sequence[Method]) -> tuple[Method, ...]:
    """The methods in the order in which a map runs them: by their declared turn, else as they were asked for."""
    return tuple(sorted(methods, key=lambda method: method.info.turn))


def usable_methods(methods: Sequence[Method], tasks: Sequence[str], named: bool) -> tuple[Method, ...]:
    """The methods that can map so few tasks; one that was named and cannot is an error."""
    usable = tuple(method for method in methods if len(tasks) >= method.info.fewest_tasks)
    for method in methods:
        if method not in usable and (named or not usable):
            raise HeadAtlasError(
                f"The method {method.info.name!r} compares tasks, and only {tasks[0]!r} is to be mapped. Add another "
                "task, or leave the method out."
            )
    return usable
