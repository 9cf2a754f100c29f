"""The suites that can be asked for by name. A new built-in suite is one module and one declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.errors import HeadAtlasError, UsageError, unknown

if TYPE_CHECKING:
    from headatlas.suites.suite import Suite


@dataclass(frozen=True)
class Declaration:
    """A suite that can be asked for by name."""

    name: str
    description: str  # one line
    builder: str | Callable[..., Suite]  # "module:function" is imported only when the suite is built
    levels: bool = False  # whether the builder takes a level of difficulty


BUILT_IN = {
    declaration.name: declaration
    for declaration in (
        Declaration(
            "cognitive", "eight cognitive functions, 300 generated examples of each, three levels of difficulty",
            "headatlas.suites.cognitive:cognitive", levels=True,
        ),
        Declaration(
            "roles", "Math Calculation and Syntactic Understanding, 600 examples of each, three levels",
            "headatlas.suites.cognitive:roles", levels=True,
        ),
        Declaration(
            "chains", "200 questions answered in 3 to 5 steps, each step one of the eight functions",
            "headatlas.suites.chains:chains",
        ),
        Declaration(
            "neutral", "continuing plain text, the control for heads that matter to everything",
            "headatlas.suites.neutral:neutral", levels=True,
        ),
    )
}  # fmt: skip
DECLARATIONS = dict(BUILT_IN)  # and what users have registered
SUITES = {name: declaration.description for name, declaration in DECLARATIONS.items()}


def register_suite(name: str, description: str, builder: str | Callable[..., Suite], levels: bool = False) -> None:
    """Give a suite a name that `load_suite`, `map` and the other commands understand.

    `builder` is a function that returns a `Suite`, or where to find one, as "module:function". With `levels` it is
    called as `builder(level=...)`, otherwise without arguments. It must return the same examples every time, because
    a run that is resumed or verified builds the suite again. A name can be registered again, unless it is that of a
    built-in suite.

    >>> register_suite("sums", "additions of two numbers", "my_project.sums:build")
    """
    if name in BUILT_IN:
        raise UsageError(f"The name {name!r} belongs to a built-in suite ({SUITES[name]}). Choose another `name`.")
    if isinstance(builder, str) and builder.count(":") != 1:
        raise UsageError(f"The `builder` of suite {name!r} is {builder!r}; write it as 'module:function'.")
    DECLARATIONS[name] = Declaration(name, description, builder, levels)
    SUITES[name] = description


def load_suite(source: str | Path, level: int | None = None) -> Suite:
    """The suite of that name at a level of difficulty (1 unless given), or the suite in a JSONL task file."""
    name = str(source)
    if level is not None and not (name in DECLARATIONS and DECLARATIONS[name].levels):
        raise UsageError(f"Level {level} was asked for, but {name!r} has no levels. Leave `level` out.")
    if name in DECLARATIONS:
        build = _built_in if name in BUILT_IN else _build
        return build(DECLARATIONS[name], 1 if level is None else level)
    path = Path(source).expanduser()
    if path.is_file():
        from headatlas.suites.jsonl import read_jsonl

        return read_jsonl(path)
    if path.suffix or "/" in name:
        raise UsageError(f"There is no task file {name!r}. Known suites: {', '.join(SUITES)}.")
    raise unknown("suite", name, SUITES)


@cache
def _built_in(declaration: Declaration, level: int) -> Suite:
    """Built-in suites take seconds to generate and are pure functions of the level; those of users may not be."""
    return _build(declaration, level)


def _build(declaration: Declaration, level: int) -> Suite:
    from headatlas.suites.suite import Suite

    build = declaration.builder
    if isinstance(build, str):
        module, function = build.split(":")
        try:
            build = getattr(import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise HeadAtlasError(
                f"Suite {declaration.name!r} cannot be built: its `builder` {declaration.builder!r} cannot be imported "
                f"({error}). Install the package it is in, or register the suite with another `builder`."
            ) from error
    suite = build(level=level) if declaration.levels else build()
    if not isinstance(suite, Suite):
        raise HeadAtlasError(
            f"The `builder` of suite {declaration.name!r} returned {type(suite).__name__} instead of a Suite."
        )
    return suite
