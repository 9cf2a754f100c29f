"""Drawing a figure by name, and writing all that an atlas has data for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.errors import HeadAtlasError
from headatlas.views.figures.registry import COMPARISON, FIGURES, FigureInfo, figures_of, find_figure
from headatlas.views.rows import only, outcome
from headatlas.wording import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns.compare import Comparison

WRITTEN = ("png", "svg")


def draw(atlas: Atlas, figure: str, method: str | None = None, path: str | Path | None = None) -> Figure:
    """Draw a figure by name, and save it where a path is given."""
    info = find_figure(atlas, figure)
    return _draw(atlas, info, _choose_method(atlas, info, method), [Path(path)] if path is not None else [])


def write_comparison_figure(comparison: Comparison, paths: Sequence[Path]) -> None:
    """The figure of two maps, written to every path."""
    from matplotlib import rc_context

    from headatlas.views.figures.style import save, settings

    with rc_context(settings()):
        figure = FIGURES[COMPARISON].function()(comparison)
        for path in paths:
            save(figure, path)


def write_figures(atlas: Atlas) -> list[Path]:
    """All figures that an atlas has data for, as PNG and SVG, in its `figures` folder.

    Those of the default method bear the name of the figure; those of others end in the name of the method. Maps are
    drawn of the default method only.
    """
    paths = []
    for name, info in figures_of(atlas).items():
        methods = info.methods(atlas)
        if not methods:
            continue
        default = _choose_method(atlas, info, None)
        others = [method for method in methods if method != default] if info.source != "maps" else []
        for method in (default, *others):
            stem = name if method == default else f"{name}-{method}"
            files = [atlas.path / "figures" / f"{stem}.{suffix}" for suffix in WRITTEN]
            _draw(atlas, info, method, files)
            paths += files
    return paths


def _draw(atlas: Atlas, info: FigureInfo, method: str, paths: list[Path]) -> Figure:
    # Help texts list figures; they should not have to wait for matplotlib.
    from matplotlib import rc_context

    from headatlas.views.figures.style import save, settings

    with rc_context(settings()):
        function = info.function()
        if info.source == "test":
            tests = [test for test in info.tests(atlas) if len(only(atlas.evidence, test=test, method=method))]
            figure = function(outcome(atlas, tests[0], method))
        else:
            figure = function(atlas, method)
        for path in paths:
            save(figure, path)
    return figure


def _choose_method(atlas: Atlas, info: FigureInfo, method: str | None) -> str:
    """The method asked for; without one the default of the atlas, or the last that there are data for."""
    if method is not None:
        atlas.choose_method(method)
    methods = info.methods(atlas)
    if not methods or (method is not None and method not in methods):
        raise HeadAtlasError(_lacking(atlas, info, method, methods))
    if method is not None:
        return method
    default = atlas.choose_method()
    return default if default in methods else methods[-1]


def _lacking(atlas: Atlas, info: FigureInfo, method: str | None, methods: list[str]) -> str:
    """What is missing in an atlas, and which command adds it."""
    if info.source == "comparison":
        command = f"headatlas compare {shlex.quote(str(atlas.path))} OTHER"
        return f"The figure {info.name!r} shows two maps. Draw it with: {command}"
    maps = f" of the maps by {method}" if method else ""
    if info.source == "test":
        evidence = only(atlas.evidence, test=info.made_by)
        if len(evidence if method is None else only(evidence, method=method)):
            return (
                f"The test {info.made_by!r}{maps} was run on the atlas {atlas.path}, but gave no {info.metric} for the "
                f"figure {info.name!r}."
            )
        options = ["--test", info.made_by or "", *(["--method", method] if method else [])]
        command = shlex.join(["headatlas", "verify", str(atlas.path), *(options if info.made_by else options[2:])])
        return f"The atlas {atlas.path} has no outcome of the test {info.made_by!r}{maps}. Make it with: {command}"
    if methods:
        return (
            f"The figure {info.name!r} is not made from the maps by {method}, only from those by {', '.join(methods)}."
        )
    if info.measures and info.made_by in atlas.methods:
        return (
            f"The figure {info.name!r} needs the measures {' and '.join(info.measures)}, which {info.made_by} gives "
            f"where there are tasks to compare; the atlas {atlas.path} has maps of "
            f"{count(len(atlas.tasks), 'task')}. Map several."
        )
    wanted = ",".join(dict.fromkeys([*atlas.methods, *([info.made_by] if info.made_by else [])]))
    return (
        f"The atlas {atlas.path} has nothing for the figure {info.name!r}. Map again with the method that makes it: "
        f"headatlas map --method {wanted} --out {shlex.quote(str(atlas.path))} (and the options it was made with)"
    )
