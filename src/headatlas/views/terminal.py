"""Maps and tables for a colour terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from headatlas.views.figures.rows import NEUTRAL, by_task, evidence, only, single
from headatlas.views.figures.scale import scale_top

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas
    from headatlas.stats import Array

# Anchors of viridis, dark to bright; colours between them are mixed.
VIRIDIS = np.array(
    [(68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142),
     (31, 158, 137), (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37)]
)  # fmt: skip
UNMEASURED = np.array((90, 90, 90))


def plain_console() -> Console:
    """Standard output without markup: task names may hold brackets, and mean them."""
    return Console(highlight=False, markup=False)


def _colour(value: float, top: float) -> str:
    if np.isnan(value):
        rgb = UNMEASURED
    else:
        place = min(max(value / top, 0.0), 1.0) * (len(VIRIDIS) - 1)
        low = min(int(place), len(VIRIDIS) - 2)
        rgb = (VIRIDIS[low] + (place - low) * (VIRIDIS[low + 1] - VIRIDIS[low])).astype(int)
    return "#{:02x}{:02x}{:02x}".format(*rgb.tolist())


def heatmap(title: str, grid: Array, top: float) -> Group:
    """A [layer, head] map: two layers a line (half blocks), two columns a head, layer 0 on top."""
    lines = [Text(title, style="bold")]
    for layer in range(0, len(grid), 2):
        line = Text(f"{layer:3d} ", style="dim")
        for head in range(grid.shape[1]):
            upper = _colour(grid[layer, head], top)
            lower = _colour(grid[layer + 1, head], top) if layer + 1 < len(grid) else "default"
            line.append("▀▀", style=f"{upper} on {lower}")
        lines.append(line)
    return Group(*lines, Text(""))


def print_maps(console: Console, atlas: Atlas, tasks: list[str], method: str | None) -> None:
    """All maps on one scale; nothing in a terminal without colour, where blocks would say nothing."""
    if not console.is_terminal or console.color_system is None:
        return
    grids = {task: np.abs(atlas.grid(task, method)) for task in tasks}
    top, clipped = scale_top(np.concatenate([grid.ravel() for grid in grids.values()]))
    console.print(Columns([heatmap(task, grid, top) for task, grid in grids.items()], padding=(0, 2)))
    legend = Text("0.0000 ")
    for i in range(20):
        legend.append("█", style=_colour(i / 19 * top, top))
    console.print(legend.append(f" {top:.4f}{'+' * clipped}   |importance| by {atlas.choose_method(method)}"))


def competence_table(atlas: Atlas) -> Table:
    table = Table("task", title="What the intact model can do", title_justify="left", box=None, pad_edge=False)
    for name in ("items", "accuracy", "95 % interval", "chance", "log-prob", "verdict"):
        table.add_column(name, justify="left" if name == "verdict" else "right")
    for row in atlas.competence.itertuples():
        table.add_row(
            row.task,
            str(row.items),
            f"{row.accuracy:.2f}",
            f"{row.low:.2f} to {row.high:.2f}",
            f"{row.chance:.2f}",
            f"{row.logprob:.2f}",
            Text(row.verdict, style="green" if row.verdict == "competent" else "yellow"),
        )
    return table


def top_table(atlas: Atlas, task: str, k: int, method: str | None) -> Table:
    """The strongest heads of a task, with interval and q."""
    chosen = atlas.choose_method(method)
    title = f"{atlas.choose_task(task)}: strongest heads by {chosen}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("rank", "head", "importance", "95 % interval", "q"):
        table.add_column(name, justify="right")
    for rank, row in enumerate(atlas.table(task, chosen).head(k).itertuples(), start=1):
        sure = "" if row.q_value < 0.05 else "  not distinguishable from zero"
        table.add_row(
            str(rank),
            f"L{row.layer}H{row.head}",
            f"{row.value:+.4f}",
            f"{row.low:+.4f} to {row.high:+.4f}",
            f"{row.q_value:.2g}{sure}",
        )
    return table


def probe_table(atlas: Atlas) -> Table | None:
    """How well the probe tells the tasks apart, and what does as well without a model; nothing without a probe."""
    found = only(atlas.diagnostics, method="probe", seed=0)
    found = found[found["task"].isna() & found["place"].isna()].set_index("metric")
    if "accuracy" not in found.index:
        return None
    table = _table("Telling the tasks apart by what the heads write", ["", "accuracy", "95 % interval"], "")
    texts = [name for name in found.index if name.startswith("text ")]
    for metric in ("accuracy", *texts, "shuffled accuracy", "majority"):
        names = {"accuracy": "probe of all heads", "shuffled accuracy": "probe, shuffled labels"}
        name = names.get(metric, f"{metric.removeprefix('text ')}, text alone" if metric in texts else metric)
        if metric in found.index:
            value, low, high = found.loc[metric, ["value", "low", "high"]]
            table.add_row(name, f"{value:.2f}", _interval(low, high, sign=""), "")
    if "gain over text" in found.index:
        gain, low, high = found.loc["gain over text", ["value", "low", "high"]]
        table.add_row("gain over text", f"{gain:+.2f}", _interval(low, high), _verdict(low, high))
    return table


def _verdict(low: float, high: float) -> Text:
    """What an interval of the gain over the text allows to say."""
    if low > 0:
        return Text("better than the text alone", style="green")
    return Text("worse than the text alone" if high < 0 else "no better than the text alone", style="yellow")


def evidence_tables(atlas: Atlas, method: str) -> list[RenderableType]:
    """One short table for each test of this method's maps that was run; changes are in nats of log-probability."""
    makers: dict[str, Callable[[pd.DataFrame, str], Table | None]] = {
        "mask": _mask,
        "keep": _keep,
        "specificity": _specificity,
        "hierarchy": _hierarchy,
        "steer": _steer,
    }
    tables: list[RenderableType] = []
    for test, make in makers.items():
        rows = evidence(atlas, test, method)
        table = make(rows, method) if len(rows) else None
        if table is not None:
            tables += [table, Text("")]
    return tables


def _mask(rows: pd.DataFrame, method: str) -> Table:
    columns = ["task", "heads", "intact", "top", "95 % interval", "random", "p"]
    table = _table(f"Mask: change of log-prob without the top heads by {method}", columns)
    for task, own in by_task(rows):
        compared = only(own, metric="p_value")["k"]  # among too many heads there are no others to compare with
        own = own[own["k"] == (compared if len(compared) else own["k"]).max()]
        top = only(own, control="top", metric="logprob")
        random = only(own, control="random", metric="logprob")["change"].mean()
        table.add_row(
            Text(task),
            f"{own['k'].max():.0f}",
            _number(single(top, "baseline"), sign=""),
            _number(single(top, "change")),
            _interval(single(top, "change_low"), single(top, "change_high")),
            _number(random),
            f"{p:.2g}" if np.isfinite(p := single(own, metric="p_value")) else "-",
        )
    return table


def _keep(rows: pd.DataFrame, method: str) -> Table | None:
    """Dashes for a task that loses almost nothing without any head: of that there is no fraction."""
    sizes = sorted(set(only(rows, metric="fraction")["k"]))
    if not sizes:
        return None
    columns = ["task", "", *(f"{size:.0f}" for size in sizes), "CPR", "95 % interval"]
    table = _table(f"Keep: fraction recovered by that many heads alone, ranked by {method}", columns)
    for task, own in by_task(rows):
        for control in ("top", "random"):
            area = only(own, metric="cpr", control=control)
            kept = only(own, metric="fraction", control=control).groupby("k")["value"].mean()
            table.add_row(
                Text(task if control == "top" else ""),
                control,
                *(_number(kept.get(size, np.nan), sign="") for size in sizes),
                _number(single(area), sign=""),
                _interval(single(area, "low"), single(area, "high"), sign=""),
            )
    return table


def _specificity(rows: pd.DataFrame, method: str) -> Table:
    columns = ["task", "own\nheads", "others'\nheads", "own minus\nothers", "95 % interval", "neutral\nperplexity"]
    k = rows["k"].max()
    table = _table(f"Specificity: change of log-prob on each task without the top {k:.0f} heads by {method}", columns)
    cells = only(rows, control="top", metric="logprob")
    for task, own in by_task(rows):
        measured = only(cells, eval_task=task)
        beyond = only(own, control="own minus others", metric="logprob")
        plain = only(own, metric="perplexity")
        before, after = single(plain, "baseline"), single(plain)
        table.add_row(
            Text(task),
            _number(single(measured, "change", task=task)),
            _number(measured[measured["task"] != task]["change"].mean()),
            _number(single(beyond)),
            _interval(single(beyond, "low"), single(beyond, "high")),
            f"{before:.1f} to {after:.1f}" if np.isfinite(after) else "-",
        )
    return table


def _hierarchy(rows: pd.DataFrame, method: str) -> Table:
    beyond = only(rows, control="top minus random", metric="logprob")
    highs = list(dict.fromkeys(beyond["eval_task"]))
    title = f"Hierarchy: change of log-prob of high-level steps without the top {rows['k'].max():.0f} heads by {method}"
    table = _table(
        f"{title}, less that without random ones (* 95 % interval excludes zero)",
        ["heads of", *(high.replace(" ", "\n") for high in highs)],
    )
    for low, own in by_task(beyond):
        cells = []
        for high in highs:
            cell = only(own, eval_task=high)
            sure = single(cell, "low") > 0 or single(cell, "high") < 0
            cells.append(_number(single(cell)) + ("*" if sure else " "))
        table.add_row(Text(low), *cells)
    return table


def _steer(rows: pd.DataFrame, method: str) -> Table | None:
    """The tasks that were steered; what scaling does is in the figure."""
    alphas = only(rows, control="steer", metric="alpha")
    if not len(alphas):
        return None
    columns = ["task", "alpha", "gain in\naccuracy", "95 % interval", "gain in\nlog-prob", "neutral\nlog-prob"]
    table = _table(f"Steer: change by pushing the top {rows['k'].max():.0f} heads by {method}", columns)
    for task, own in by_task(only(rows, control="steer")):
        accuracy = only(own, eval_task=task, metric="accuracy")
        table.add_row(
            Text(task),
            f"{single(own, metric='alpha'):g}",
            _number(single(accuracy, "change")),
            _interval(single(accuracy, "change_low"), single(accuracy, "change_high")),
            _number(single(own, "change", eval_task=task, metric="logprob")),
            _number(single(own, "change", eval_task=NEUTRAL, metric="logprob")),
        )
    return table


def _table(title: str, columns: Sequence[str], *more: str) -> Table:
    """A plain table: names on the left, numbers on the right."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate((*columns, *more)):
        left = place == 0 or not name
        # Names give way in a narrow terminal, but never altogether; numbers do not.
        table.add_column(
            name, justify="left" if left else "right", no_wrap=place > 0, min_width=13 * (place == 0) or None
        )
    return table


def _number(value: float, sign: str = "+") -> str:
    return f"{round(value, 2) + 0.0:{sign}.2f}" if np.isfinite(value) else "-"


def _interval(low: float, high: float, sign: str = "+") -> str:
    known = np.isfinite(low) and np.isfinite(high)
    return f"{_number(low, sign)} to {_number(high, sign)}" if known else "-"
