"""How the strongest heads of each task depend on each other: who stands in for whom, and who supplies whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from headatlas.atlas.portraits import Edge, Graph, read_graphs
from headatlas.stats import LEVEL
from headatlas.views.colours import BLUE, QUIET, VERMILION
from headatlas.views.figures import panels
from headatlas.views.figures.style import BASE, SMALL, TITLE, wrapped
from headatlas.views.metrics import metric
from headatlas.views.quantities import BASELINES
from headatlas.wording import head_name, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

STEP = 0.58  # inches between two heads
PANEL = 1.75  # inches of height
FEW = 8  # heads up to which two tasks stand side by side
NODE, HINDERS = "#2a788e", VERMILION  # a head whose task loses without it, and one whose task gains


def draw_graph(atlas: Atlas) -> Figure:
    """One panel per task: heads from early to late layers, backups above them, suppliers below."""
    graphs = read_graphs(atlas.path)
    widest = max(len(graph.nodes) for graph in graphs)
    columns = 2 if len(graphs) > 2 and widest <= FEW else 1
    rows = -(-len(graphs) // columns)
    width = max(STEP * (widest + 1), 3.4)
    figure = Figure(figsize=(columns * width, PANEL * rows + 0.7), layout="constrained")
    every = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, graph in zip(every, graphs, strict=False):
        _draw_one(axes, graph, widest, width)
    for axes in every[len(graphs) :]:
        axes.remove()
    handles = [
        panels.key("stand in for each other", VERMILION, linestyle="--"),
        panels.key("the earlier supplies the later", BLUE),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    units = " or ".join(dict.fromkeys(_unit(graph) for graph in graphs))
    text = f"Earlier to later layers; effect of each head in {units}; pairs with q < {LEVEL}"
    figure.supxlabel(wrapped(text, columns * width, BASE, 4), color=QUIET, fontsize=BASE)
    return figure


def _unit(graph: Graph) -> str:
    return f"nats of {metric(graph.metric).label}, against {BASELINES.get(graph.baseline, graph.baseline)}"


def _draw_one(axes: Axes, graph: Graph, widest: int, width: float) -> None:
    nodes = sorted(graph.nodes, key=lambda node: (node.layer, node.head))
    at = {(node.layer, node.head): x for x, node in enumerate(nodes)}
    most = max([abs(node.total.value) for node in nodes], default=0) or 1.0
    sure = [edge for edge in graph.edges if edge.q is not None and edge.q < LEVEL]
    strongest = max([abs(edge.interaction.value) for edge in sure], default=0) or 1.0
    for edge in sure:
        axes.add_patch(_arc(edge, at[edge.first], at[edge.second], abs(edge.interaction.value) / strongest))
    for x, node in enumerate(nodes):
        size = 50 + 260 * abs(node.total.value) / most
        axes.scatter([x], [0], s=size, color=NODE if node.total.value >= 0 else HINDERS, zorder=3, linewidth=0)
        text = f"{head_name(node.layer, node.head)}\n{signed(node.total.value)}"
        axes.annotate(text, (x, 0), (0, -13), textcoords="offset points", ha="center", va="top", fontsize=SMALL)
    axes.set_xlim(-0.6, widest - 0.4)
    axes.set_ylim(-1, 0.75)
    axes.set_axis_off()
    axes.set_title(wrapped(graph.task, width, lines=1), fontsize=TITLE)
    if not sure:
        text = "no pair interacts so that it can be told from none"
        axes.text(0.5, 0.02, text, transform=axes.transAxes, ha="center", fontsize=SMALL, color=QUIET)


def _arc(edge: Edge, start: int, end: int, strength: float) -> FancyArrowPatch:
    """Above the heads and dashed for backups; below, with an arrow, for suppliers. Its height grows with its width."""
    is_backup = edge.interaction.value > 0
    low = 0.16 if is_backup else -0.56
    reach = min(0.9, 0.25 + 0.09 * (end - start)) / max(end - start, 1)
    return FancyArrowPatch(
        (start, low),
        (end, low),
        connectionstyle=f"arc3,rad={-reach if is_backup else reach}",
        arrowstyle="-" if is_backup else "-|>",
        mutation_scale=9,
        color=VERMILION if is_backup else BLUE,
        linestyle=(0, (3, 2)) if is_backup else "-",
        linewidth=float(np.interp(strength, [0, 1], [0.8, 2.6])),
        shrinkA=0,
        shrinkB=0,
    )
