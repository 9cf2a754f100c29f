"""Drawing a figure by name, and writing all that an atlas has data for."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.atlas.portraits import read_graphs
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.views.figures.registry import COMPARISON, FIGURES, WITHOUT_METHOD, FigureInfo, figures_of, find_figure
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
        save(FIGURES[COMPARISON].function()(comparison), paths)


def write_figures(atlas: Atlas, since: Atlas | None = None, sources: Collection[str] | None = None) -> list[Path]:
    """All figures that an atlas has data for, as PNG and SVG, in its `figures` folder; returns what was drawn.

    Those of the default method bear the name of the figure; those of others end in the name of the method. Maps are
    drawn of the default method only. `since` is the same atlas as it was when its figures were last written, with fewer
    methods: those that show the same method as then are not drawn again. Where only some `sources` of figures have
    changed, others are drawn if they are missing.
    """
    drawn = [] if since is None else [(method, paths) for _, method, paths in _planned(since)]
    written = []
    for info, method, paths in _planned(atlas):
        changed = sources is None or info.source in sources or not all(path.exists() for path in paths)
        if changed and (method, paths) not in drawn:
            _draw(atlas, info, method, paths)
            written += paths
    return written


def figure_files(atlas: Atlas) -> list[Path]:
    """The files of all figures that an atlas has data for."""
    return [path for *_, paths in _planned(atlas) for path in paths]


def _planned(atlas: Atlas) -> Iterator[tuple[FigureInfo, str | None, list[Path]]]:
    """Every figure that an atlas has data for, with its method and its files."""
    for name, info in figures_of(atlas).items():
        stems: dict[str, str | None] = {}
        if info.source in WITHOUT_METHOD:
            stems = {name: None} if info.source != "graphs" or read_graphs(atlas.path) else {}
        elif methods := info.methods(atlas):
            default = _choose_method(atlas, info, None)
            others = [method for method in methods if method != default] if info.source != "maps" else []
            stems = {name: default} | {f"{name}-{method}": method for method in others}
        for stem, method in stems.items():
            yield info, method, [atlas.path / "figures" / f"{stem}.{suffix}" for suffix in WRITTEN]


def _draw(atlas: Atlas, info: FigureInfo, method: str | None, paths: list[Path]) -> Figure:
    # Help texts list figures; they should not have to wait for matplotlib.
    from matplotlib import rc_context

    from headatlas.views.figures.style import save, say_unfinished, settings

    with rc_context(settings()):
        function = info.function()
        if method is None:
            figure = function(atlas)
        elif info.source == "test":
            tests = [test for test in info.tests(atlas) if len(only(atlas.evidence, test=test, method=method))]
            figure = function(outcome(atlas, tests[0], method))
        else:
            figure = function(atlas, method)
        if atlas.run.pending:
            say_unfinished(figure, atlas.run.pending)
        if paths:
            save(figure, paths)
    return figure


def _choose_method(atlas: Atlas, info: FigureInfo, method: str | None) -> str | None:
    """The method asked for; without one the default of the atlas, or the last that there are data for. None for a
    figure that no method made."""
    if info.source in WITHOUT_METHOD:
        if method is not None:
            raise UsageError(f"The figure {info.name!r} is made by no method; leave `method` out.")
        if info.source == "graphs" and not read_graphs(atlas.path):
            command = shlex.join(["headatlas", "head", str(atlas.path)])
            raise HeadAtlasError(f"The atlas {atlas.path} has no graphs of its functions. Make them with: {command}")
        return None
    if method is not None:
        atlas.choose_method(method)
    methods = info.methods(atlas)
    if not methods or (method is not None and method not in methods):
        raise HeadAtlasError(" ".join(filter(None, [_lacking(atlas, info, method, methods), atlas.run.still_to_come])))
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
