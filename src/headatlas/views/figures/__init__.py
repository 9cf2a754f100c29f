"""Figures of an atlas, for papers: they draw what was measured and compute nothing."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from headatlas.errors import HeadAtlasError, unknown
from headatlas.views.figures.gates import gate_curves, order
from headatlas.views.figures.hierarchy import draw_hierarchy
from headatlas.views.figures.importance import draw_importance
from headatlas.views.figures.keep import draw_keep
from headatlas.views.figures.mask import draw_mask, draw_mask_accuracy
from headatlas.views.figures.probe import draw_elbow
from headatlas.views.figures.profiles import draw_profiles
from headatlas.views.figures.roles import METHOD as GATE
from headatlas.views.figures.roles import role_distributions, role_maps, roles
from headatlas.views.figures.rows import only
from headatlas.views.figures.scale import scale_ticks, scale_top, tick_step
from headatlas.views.figures.specificity import draw_specificity
from headatlas.views.figures.steer import draw_steer
from headatlas.views.figures.style import save, settings

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas

__all__ = ["FIGURES", "Kind", "draw", "scale_ticks", "scale_top", "tick_step", "write_figures"]


@dataclass(frozen=True)
class Kind:
    """One figure: how it is drawn, and which methods an atlas has its data for.

    `lacking` is the sentence for an atlas without them (of the method, where one is given): which command makes them.
    """

    draw: Callable[[Atlas, str], Figure]
    methods: Callable[[Atlas], list[str]]
    lacking: Callable[[Atlas, str | None], str]
    every_method: bool = True  # written for every method that has data, not only for the default one

    def available(self, atlas: Atlas, method: str | None = None) -> bool:
        found = self.methods(atlas)
        return bool(found) if method is None else method in found

    def choose(self, atlas: Atlas, method: str | None) -> str:
        """The method asked for; without one the default of the atlas, or the last that there are data for."""
        found = self.methods(atlas)
        if method is not None:
            atlas.choose_method(method)
        if not self.available(atlas, method):
            raise HeadAtlasError(self.lacking(atlas, method))
        if method is not None:
            return method
        default = atlas.choose_method()
        return default if default in found else found[-1]


def draw(atlas: Atlas, figure: str, method: str | None = None, path: str | Path | None = None) -> Figure:
    """Draw a figure by name, and save it where a path is given."""
    if figure not in FIGURES:
        raise unknown("figure", figure, FIGURES)
    kind = FIGURES[figure]
    chosen = kind.choose(atlas, method)
    with rc_context(settings()):
        made = kind.draw(atlas, chosen)
        if path is not None:
            save(made, Path(path))
    return made


def write_figures(atlas: Atlas) -> list[Path]:
    """All figures that an atlas has data for, as PNG and SVG, in its `figures` folder.

    Those of the default method bear the name of the figure; those of others end in the name of the method.
    """
    paths = []
    for name, kind in FIGURES.items():
        if not kind.available(atlas):
            continue
        default = kind.choose(atlas, None)
        others = [method for method in kind.methods(atlas) if method != default] if kind.every_method else []
        for method in (default, *others):
            stem = f"{name}{'' if method == default else f'-{method}'}"
            own = [atlas.path / "figures" / f"{stem}.{suffix}" for suffix in ("png", "svg")]
            made = draw(atlas, name, method)
            with rc_context(settings()):
                for path in own:
                    save(made, path)
            paths += own
    return paths


def _maps(draw: Callable[[Atlas, str], Figure]) -> Kind:
    def lacking(atlas: Atlas, method: str | None) -> str:
        return f"The atlas {atlas.path} has no importance{f' by {method}' if method else ''}: see its other figures."

    def methods(atlas: Atlas) -> list[str]:
        importance = only(atlas.scores, measure="importance")
        return list(dict.fromkeys(importance["method"]))

    return Kind(draw, methods, lacking, every_method=False)


def _gates(draw: Callable[[Atlas, str], Figure]) -> Kind:
    def methods(atlas: Atlas) -> list[str]:
        return [GATE] if GATE in atlas.methods else []

    def lacking(atlas: Atlas, method: str | None) -> str:
        return f"The atlas {atlas.path} has no gates. Map again with the method {GATE!r} among others: --method gate"

    return Kind(draw, methods, lacking)


def _curves() -> Kind:
    def methods(atlas: Atlas) -> list[str]:
        return list(dict.fromkeys(only(atlas.diagnostics, metric="curve", seed=0)["method"]))

    def lacking(atlas: Atlas, method: str | None) -> str:
        wanted = ",".join(dict.fromkeys([*atlas.methods, "probe"]))
        by = f" by {method}" if method else ""
        if found := methods(atlas):
            return f"The atlas {atlas.path} has no sorted curves{by}, only by {', '.join(found)}."
        return (
            f"The atlas {atlas.path} has no sorted curves{by}: only the probe makes them. Map again with it: "
            f"headatlas map --method {wanted} --out {shlex.quote(str(atlas.path))} (and the options it was made with)"
        )

    return Kind(draw_elbow, methods, lacking)


def _evidence(test: str, metric: str, draw: Callable[[Atlas, str], Figure], control: str | None = None) -> Kind:
    """A figure of a test, which needs rows of this metric, and of this control where one is named."""

    def methods(atlas: Atlas) -> list[str]:
        rows = only(atlas.evidence, test=test, metric=metric)
        return list(dict.fromkeys((rows if control is None else only(rows, control=control))["method"]))

    def lacking(atlas: Atlas, method: str | None) -> str:
        rows = only(atlas.evidence, test=test)
        by = f" of the maps by {method}" if method else ""
        if len(rows if method is None else only(rows, method=method)):
            return f"The test {test!r}{by} was run on the atlas {atlas.path}, but gave no {control or metric} to draw."
        option = ["--method", method] if method else []
        command = shlex.join(["headatlas", "verify", str(atlas.path), "--test", test, *option])
        return f"The atlas {atlas.path} has no outcome of the test {test!r}{by}. Make it with: {command}"

    return Kind(draw, methods, lacking)


FIGURES: dict[str, Kind] = {
    "importance": _maps(draw_importance),
    "profiles": _maps(draw_profiles),
    "elbow": _curves(),
    "mask": _evidence("mask", "logprob", draw_mask),
    "mask_accuracy": _evidence("mask", "accuracy", draw_mask_accuracy),
    "keep": _evidence("keep", "fraction", draw_keep),
    "specificity": _evidence("specificity", "logprob", draw_specificity, "top"),
    "hierarchy": _evidence("hierarchy", "logprob", draw_hierarchy, "top minus random"),
    "steer": _evidence("steer", "logprob", draw_steer),
    "roles": _gates(roles),
    "role_maps": _gates(role_maps),
    "role_distributions": _gates(role_distributions),
    "gate_curves": _gates(gate_curves),
    "order": _evidence("order", "logprob", order),
}
