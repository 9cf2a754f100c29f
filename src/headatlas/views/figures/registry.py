"""The figures, by name. A new one is a file and a line here, or a call of `register_figure`.

Which figures an atlas has is decided by declarations: a method or a test names its figures, and maps have theirs
without being asked. A test that names none is drawn by its shape, under its own name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from headatlas.errors import UsageError, unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.declarations import TestInfo

HERE = "headatlas.views.figures"
COMPARISON = "compare"
WITHOUT_METHOD = ("competence", "graphs")  # sources that no method made


@dataclass(frozen=True)
class FigureInfo:
    """One figure: what it shows, how it is drawn, and what an atlas must have for it.

    `source` says what it is drawn from. From "maps" and from a "method" that declares it: `drawn_by(atlas, method)`.
    From a "test" that declares it: `drawn_by(outcome)`. From the "competence" of the intact model, and from the
    "graphs" that come with portraits of heads: `drawn_by(atlas)`. From a "comparison" of two maps, which is no part of
    an atlas: `drawn_by(comparison)`. `metric` is one that evidence or diagnostics must have, and `differences` says
    that it must be a comparison of controls; `measures` are those that the maps of a method must have. `made_by` is the
    method or test that a message names where an atlas has nothing to draw.
    """

    name: str
    summary: str  # one line for help texts
    drawn_by: str | Callable[..., Figure]  # "module:function" is imported when it is first drawn
    source: Literal["maps", "method", "test", "competence", "graphs", "comparison"]
    metric: str | None = None
    differences: bool = False
    measures: tuple[str, ...] = ()
    made_by: str | None = None

    def function(self) -> Callable[..., Figure]:
        if not isinstance(self.drawn_by, str):
            return self.drawn_by
        module, name = self.drawn_by.split(":")
        function: Callable[..., Figure] = getattr(import_module(module), name)
        return function

    def tests(self, atlas: Atlas) -> list[str]:
        """The tests of an atlas that this figure shows."""
        return [test.name for test in atlas.run.tests if self.name in figure_names(test)]

    def methods(self, atlas: Atlas) -> list[str]:
        """The methods of an atlas that it has data for."""
        if self.source == "maps":
            return atlas.methods
        if self.source in ("comparison", *WITHOUT_METHOD):
            return []
        if self.source == "method":
            declared = [
                info.name
                for info in atlas.run.methods
                if self.name in info.figures and set(self.measures) <= {measure.name for measure in info.measures}
            ]
            if self.metric is None:
                return [method for method in declared if method in atlas.methods]
            with_metric = set(atlas.diagnostics.loc[atlas.diagnostics["metric"] == self.metric, "method"])
            return [method for method in declared if method in with_metric]
        rows = atlas.evidence[atlas.evidence["test"].isin(self.tests(atlas))]
        rows = rows[rows["compared_with"].notna() == self.differences]
        return list(dict.fromkeys((rows if self.metric is None else rows[rows["metric"] == self.metric])["method"]))


FIGURES: dict[str, FigureInfo] = {
    info.name: info
    for info in (
        FigureInfo(
            "atlas", "what every head is specifically for, in one grid", f"{HERE}.atlas:draw_atlas", "method",
            measures=("share", "specific"), made_by="ablate",
        ),
        FigureInfo(
            "competence", "what the intact model can do, beside guessing", f"{HERE}.competence:draw_competence",
            "competence",
        ),
        FigureInfo("importance", "the maps: every head of every task", f"{HERE}.importance:draw_importance", "maps"),
        FigureInfo(
            "importance_probe", "the probe's maps, in the form of the paper",
            f"{HERE}.importance:draw_importance", "method", made_by="probe",
        ),
        FigureInfo("profiles", "the maps by layer, and their centre of mass", f"{HERE}.profiles:draw_profiles", "maps"),
        FigureInfo(
            "elbow", "sizes in order beside what shuffled labels give", f"{HERE}.elbow:draw_elbow", "method",
            metric="curve", made_by="probe",
        ),
        FigureInfo(
            "roles", "heads that help or hinder, in every seed and in any", f"{HERE}.roles:draw_roles", "method",
            made_by="gate",
        ),
        FigureInfo(
            "role_maps", "facilitation, irrelevance and interference of every head", f"{HERE}.roles:draw_role_maps",
            "method", made_by="gate",
        ),
        FigureInfo(
            "role_distributions", "how far the gates decide", f"{HERE}.roles:draw_role_distributions", "method",
            made_by="gate",
        ),
        FigureInfo(
            "gate_curves", "the course of fitting the gates", f"{HERE}.gate_curves:draw_gate_curves", "method",
            metric="plus_objective", made_by="gate",
        ),
        FigureInfo(
            "mask", "what a task loses without the heads of its map", f"{HERE}.curve:draw_curve", "test",
            metric="logprob", made_by="mask",
        ),
        FigureInfo(
            "mask_accuracy", "the same for accuracy", f"{HERE}.curve:draw_accuracy_curve", "test", metric="accuracy",
            made_by="mask",
        ),
        FigureInfo(
            "keep", "what the heads of a map carry by themselves", f"{HERE}.recovery:draw_recovery", "test",
            metric="fraction", made_by="keep",
        ),
        FigureInfo(
            "specificity", "what the heads of each task do to all the others",
            f"{HERE}.task_matrix:draw_task_matrix", "test", metric="logprob", made_by="specificity",
        ),
        FigureInfo(
            "hierarchy", "what high-level steps lose without low-level heads", f"{HERE}.task_pairs:draw_task_pairs",
            "test", metric="logprob", differences=True, made_by="hierarchy",
        ),
        FigureInfo(
            "steer", "what pushing or scaling heads gains and costs", f"{HERE}.change:draw_change", "test",
            metric="logprob", made_by="steer",
        ),
        FigureInfo(
            "order", "what a task loses as heads go, role by role", f"{HERE}.order:draw_order", "test",
            metric="logprob", made_by="order",
        ),
        FigureInfo(
            "graph", "how the heads of each function depend on each other", f"{HERE}.graph:draw_graph", "graphs",
        ),
        FigureInfo(
            COMPARISON, "two maps side by side; drawn by headatlas compare", f"{HERE}.compare:draw_comparison",
            "comparison",
        ),
    )
}  # fmt: skip

# How a test is drawn that names no figure.
SHAPES = {
    "curve": f"{HERE}.curve:draw_curve",
    "recovery": f"{HERE}.recovery:draw_recovery",
    "matrix": f"{HERE}.task_pairs:draw_matrix",
    "change": f"{HERE}.change:draw_change",
}


def register_figure(
    name: str,
    drawn_by: str | Callable[..., Figure],
    summary: str,
    source: Literal["maps", "method", "test", "competence", "graphs"],
    **more: Any,
) -> FigureInfo:
    """Add a figure; `FigureInfo` explains the parameters. Methods and tests declare it by its name."""
    if name in FIGURES:
        raise UsageError(f"There already is a figure called {name!r}. Choose another name.")
    FIGURES[name] = FigureInfo(name, summary, drawn_by, source, **more)
    return FIGURES[name]


def figure_list() -> list[tuple[str, str]]:
    """Name and description of every registered figure, for help texts. Nothing is imported."""
    return [(info.name, info.summary) for info in FIGURES.values()]


def figure_names(test: TestInfo) -> tuple[str, ...]:
    """The figures of a test: those it declares, or one of its shape under its own name."""
    return tuple(name for name in test.figures if name in FIGURES) or (test.name,)


def figures_of(atlas: Atlas) -> dict[str, FigureInfo]:
    """All registered figures, and those of the atlas's tests that are drawn by their shape."""
    from headatlas.views.rows import only, with_headline

    tests = [with_headline(test, only(atlas.evidence, test=test.name)) for test in atlas.run.tests]
    by_shape = {
        test.name: FigureInfo(
            test.name, test.summary, SHAPES[test.shape], "test", made_by=test.name,
            metric=None if test.shape == "change" else test.headline,  # changes are drawn of every metric
        )
        for test in tests
        if figure_names(test) == (test.name,) and test.name not in FIGURES
    }  # fmt: skip
    return FIGURES | by_shape


def find_figure(atlas: Atlas, name: str) -> FigureInfo:
    figures = figures_of(atlas)
    if name not in figures:
        raise unknown("figure", name, figures)
    return figures[name]
