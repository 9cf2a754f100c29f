"""Figures of gate fits: their course, what ablation says to their roles, and how they depend on lambda."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from headatlas.errors import HeadAtlasError
from headatlas.views.figures.roles import COLOURS, METHOD, SHOWN, plain, role_legend
from headatlas.views.figures.style import BASE, settings, wrapped

if TYPE_CHECKING:
    import pandas as pd

    from headatlas.atlas.reading import Atlas

STAGES = {"base": "no penalty", "plus": "urged to open (+λ)", "minus": "urged to close (−λ)"}
SEED_COLOURS = ("#3b6fb6", "#e08a1e", "#7a4fa3", "#2f9c8f", "#b5467a", "#8a7a2f", "#555555", "#9ac13c")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)))  # of the three stages
DOTS: dict[str, Any] = {
    "marker": "o",
    "markersize": 3.5,
    "markeredgecolor": "white",
    "markeredgewidth": 0.5,
    "linestyle": "none",
}


def gate_curves(atlas: Atlas, method: str | None = None) -> Figure:
    """The course of the fits, from the diagnostics of an atlas."""
    found = atlas.diagnostics
    return draw_gate_curves(found[found["method"] == (method or METHOD)])


def draw_gate_curves(diagnostics: pd.DataFrame) -> Figure:
    """Rows: tasks. Columns: the objective of each stage by step (lines: fit; dots: choose), then the open gates."""
    with rc_context(settings()):
        curves = diagnostics[diagnostics["place"].notna() & diagnostics["metric"].str.endswith("_objective")]
        if curves.empty:
            raise HeadAtlasError("There are no courses of gate fits to draw. Map with: headatlas map --method gate")
        tasks = list(dict.fromkeys(curves["task"]))
        figure = Figure(figsize=(11, 2.2 * len(tasks) + 0.4), layout="constrained")
        panels = figure.subplots(len(tasks), 4, squeeze=False)
        seeds = sorted(curves["seed"].unique())
        colours = {seed: SEED_COLOURS[place % len(SEED_COLOURS)] for place, seed in enumerate(seeds)}
        for row, task in zip(panels, tasks, strict=True):
            own = diagnostics[diagnostics["task"] == task]
            for axes, (stage, title) in zip(row, STAGES.items(), strict=False):
                for seed in seeds:
                    _curve(axes, own, f"{stage}_objective", seed, color=colours[seed], linewidth=0.9)
                    _curve(axes, own, f"{stage}_choose_objective", seed, color=colours[seed], **DOTS)
                axes.set_title(title[0].upper() + title[1:])
            row[0].set_ylabel(f"{wrapped(task, 2.0, BASE)}\n\nObjective (nats)", parse_math=False)
            for stage, dash in zip(STAGES, DASHES, strict=True):
                for seed in seeds:
                    _curve(row[3], own, f"{stage}_open", seed, color=colours[seed], linewidth=0.9, linestyle=dash)
            row[3].set_title("Open gates")
            row[3].set_ylim(bottom=0)
            row[3].yaxis.set_major_locator(MaxNLocator(integer=True))
            for axes in row:
                axes.set_xlabel("Step")
                plain(axes)
        lines = [Line2D([], [], color=colours[seed], label=f"seed {seed}") for seed in seeds]
        lines += [Line2D([], [], color="black", label="fit"), Line2D([], [], color="black", label="choose", **DOTS)]
        lines += [
            Line2D([], [], color="black", linestyle=dash, label=f"open gates, {label}")
            for dash, label in zip(DASHES, ("no penalty", "+λ", "−λ"), strict=True)
        ]
        figure.legend(handles=lines, loc="outside lower center", ncols=len(lines), frameon=False, fontsize=8)
        return figure


def order(atlas: Atlas, method: str | None = None) -> Figure:
    """Ablation in the order of roles, from the evidence of an atlas."""
    found = atlas.evidence
    return draw_order(found[found["method"] == (method or METHOD)])


def draw_order(evidence: pd.DataFrame) -> Figure:
    """One panel a task: the change of the answers' log-probability by number of ablated heads, with 95 % intervals."""
    with rc_context(settings()):
        rows = evidence[evidence["test"] == "order"]
        if rows.empty:
            raise HeadAtlasError("There is no ablation in the order of roles to draw. Run: headatlas verify")
        tasks = list(dict.fromkeys(rows["task"]))
        columns = min(3, len(tasks))
        lines = -(-len(tasks) // columns)
        figure = Figure(figsize=(3.5 * columns + 0.3, 2.7 * lines + 0.5), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        for axes, task in zip(panels, tasks, strict=False):
            own = rows[rows["task"] == task].sort_values("k", kind="stable")
            axes.axhline(0, color="#bbbbbb", linewidth=0.7)
            for _, draw in own[own["control"] == "random"].groupby("draw"):
                axes.plot(
                    draw["k"], draw["value"] - draw["baseline"], color=COLOURS["random"], linewidth=0.8, alpha=0.8
                )
            for role in SHOWN:
                part = own[own["control"] == role]
                axes.fill_between(
                    part["k"], part["low"] - part["baseline"], part["high"] - part["baseline"],
                    color=COLOURS[role], alpha=0.15, linewidth=0,
                )  # fmt: skip
                axes.plot(part["k"], part["value"] - part["baseline"], color=COLOURS[role], linewidth=1.5, marker="o",
                          markersize=2.5)  # fmt: skip
            axes.set_xscale("symlog", linthresh=1, linscale=0.5)
            ticks = [0, *(10**p for p in range(5) if 10**p < own["k"].max() * 0.6), int(own["k"].max())]
            axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
            axes.minorticks_off()
            axes.set_title(task, parse_math=False)
            axes.set_xlabel("Heads ablated")
            plain(axes)
        for axes in panels[len(tasks) :]:
            axes.remove()
        panels[0].set_ylabel("Change of log-probability (nats)")
        role_legend(figure, (*SHOWN, "random"), {"random": "random heads of the same layers"})
        return figure


def _curve(axes: Axes, rows: pd.DataFrame, metric: str, seed: int, **style: Any) -> None:
    own = rows[(rows["metric"] == metric) & (rows["seed"] == seed)].sort_values("place")
    axes.plot(own["place"], own["value"], **style)
