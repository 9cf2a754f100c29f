"""Do certified intervals cover? Exact effects of every head on all examples of a map are the truth, for six tasks.

Groups of examples are drawn with replacement, as if the suite had been made again; each time the map is certified from
its few exact effects, and its intervals are compared with the truth and with those of everything exact. Half an hour to
two hours on two cores for the exact effects, which are kept in build/certificate and reused.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import processor_seconds, report
from headatlas.methods.ablate import Ablate
from headatlas.methods.attribute import mirrored
from headatlas.methods.certify import certify_all, draw_examples
from headatlas.methods.effects import attributed_both_ways, exact_cells, exact_effects, forward_tokens, single_heads
from headatlas.methods.measurements import Measurements, Part, nothing_measured
from headatlas.methods.rounds import measure_in_rounds, most_turns, run_rounds
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Cell, Runner
from headatlas.run.context import RunContext
from headatlas.run.crew import Crew
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import TaskQuantity, plan_quantity
from headatlas.run.selection import split_examples
from headatlas.stats import Array, Summary
from headatlas.suites import load_suite
from headatlas.suites.cognitive import cognitive
from headatlas.workflows.presets import split_limits

FOLDER = Path("build/certificate")
TASKS = (
    "Knowledge Recall", "Retrieval", "Semantic Understanding", "Syntactic Understanding", "Inference",
    "Math Calculation",
)  # those that the model can do  # fmt: skip
TIMED = "Syntactic Understanding"
REPEATS, STRONGEST = 200, 30
TIMES = 3  # of larger suites, as many groups as the map has times this
MANY = 300  # examples of the map that is timed
SAMPLE = 8  # about so many cells are timed to say how long exact effects of all of them would take


def run(model: HeadModel) -> None:
    turns, thorough = _quick_settings()
    for effects in known_effects(model):
        for times in (1, TIMES):
            _cover(effects, turns, thorough, times)
        near, elsewhere = pull(effects, turns, thorough, REPEATS)
        report(f"{effects.task}: pull of heads near the cut, in half widths", near, "", "")
        report(f"{effects.task}: pull of the other heads, in half widths", elsewhere, "", "")
    context = quick_context(model)
    _time(context, plan_quantity(context, TIMED), "at least 4")


def _quick_settings() -> tuple[int, float]:
    """Turns of the first round, and the share of heads that the third one may measure."""
    quick = Ablate(**Ablate.presets["quick"])
    assert quick.exact != "all"
    return quick.exact, quick.thorough


@dataclass(frozen=True)
class Known:
    """Effects [example, head] on all examples of a quick map, attributed at the prompt and at the twin and exact, what
    each example costs, and its group."""

    task: str
    attributed: Array
    at_twin: Array
    exact: Array
    cost: Array
    groups: Sequence[str]

    @property
    def members(self) -> dict[str, NDArray[np.int64]]:
        """The examples of each group."""
        return {name: np.flatnonzero(np.asarray(self.groups) == name) for name in sorted(set(self.groups))}

    def only(self, rows: NDArray[np.int64]) -> Known:
        """Some of the examples, or the same ones several times."""
        groups = [self.groups[i] for i in rows]
        return Known(self.task, self.attributed[rows], self.at_twin[rows], self.exact[rows], self.cost[rows], groups)


def known_effects(model: HeadModel) -> Iterator[Known]:
    context = quick_context(model)
    for task in TASKS:
        quantities = {task: plan_quantity(context, task)}
        units = {task: single_heads(context.heads)}
        attributed, at_twin = attributed_both_ways(f"Attribution, {task}", quantities, mirrored(quantities))
        exact = exact_effects(f"Exact effects, {task}", quantities, units)[task]
        cost, groups = forward_tokens(quantities[task]), quantities[task].groups
        yield Known(task, attributed[task], at_twin[task], exact, cost, groups)


def quick_context(model: HeadModel) -> RunContext:
    """The tasks, with the examples of a quick map."""
    suite = load_suite("cognitive").only(TASKS)
    splits = split_examples(suite, split_limits("quick", None), 0)
    return RunContext(model, splits, Runner(FOLDER, Reporter(), crew=Crew.of(model)), Encoder(model))


def speed(model: HeadModel) -> None:
    """The map of one task from 300 examples, against its exact effects on all of them."""
    suite = cognitive(2 * MANY, generators=("retrieval",))
    context = RunContext(model, suite.split(), Runner(FOLDER, Reporter()), Encoder(model))
    quantity = plan_quantity(context, suite.tasks[0])
    _time(context, quantity.only(range(MANY)), "at least 15")


def _cover(known: Known, turns: int, thorough: float, times: int = 1) -> None:
    truth = known.exact.mean(0)
    strongest = np.argsort(-np.abs(truth))[:STRONGEST]
    rng = np.random.default_rng(0)
    members = known.members
    covered, covered_by_all, widths, measured = [], [], [], []
    for _ in range(REPEATS):
        drawn = rng.choice(sorted(members), times * len(members))
        rows = np.concatenate([members[name] for name in drawn])
        names = [str(i) for i, name in enumerate(drawn) for _ in members[name]]
        again = replace(known.only(rows), groups=names)
        certified = _certified(again, turns, thorough, rng)
        summary, everything = certified.certified(range(len(truth))).summary, certify_all(again.exact, names).summary
        covered.append(_inside(summary, truth))
        covered_by_all.append(_inside(everything, truth))
        widths.append((summary.high - summary.low) / (everything.high - everything.low))
        measured.append(np.isfinite(certified.exact).mean())
    task = known.task if times == 1 else f"{known.task}, {times} times the examples"
    for whose, heads in (("all heads", slice(None)), (f"{STRONGEST} strongest heads", strongest)):
        report(f"{task}, {whose}: coverage", float(np.mean(np.array(covered)[:, heads])), "", "0.93 to 0.97")
        report(f"{task}, {whose}: of everything exact", float(np.mean(np.array(covered_by_all)[:, heads])), "", "")
        report(f"{task}, {whose}: width over that of everything exact, median",
               float(np.median(np.array(widths)[:, heads])), "", "at most 1.3")  # fmt: skip
    report(f"{task}: exact effects that were measured, of all", float(np.mean(measured)), "", "")


def pull(known: Known, turns: int, thorough: float, repeats: int) -> tuple[float, float]:
    """How far values are off on average over draws, in half widths of their intervals, below zero where towards zero:
    of heads that some draws measure further and others do not, and of all other heads."""
    truth, rng = known.exact.mean(0), np.random.default_rng(1)
    means, widths, further = [], [], []
    for _ in range(repeats):
        measured = _certified(known, turns, thorough, rng)
        summary = measured.certified(range(len(truth))).summary
        means.append(summary.mean)
        widths.append(summary.high - summary.low)
        further.append(measured.turns > turns)
    off = (np.mean(means, 0) - truth) * np.sign(truth) / (np.mean(widths, 0) / 2)
    share = np.mean(further, 0)
    near = (share > 0.1) & (share < 0.9)
    return float(off[near].mean()), float(off[~near].mean())


def _certified(known: Known, turns: int, thorough: float, rng: np.random.Generator) -> Measurements:
    """The rounds of `ablate`, with known effects looked up."""
    draw = draw_examples(known.attributed, known.cost, most_turns(turns), rng)

    def look_up(_: str, parts: Sequence[Part]) -> list[Array]:
        return [known.exact[np.ix_(part.examples, part.units)] for part in parts]

    def at_twins(tasks: Sequence[str]) -> dict[str, Array]:
        return dict.fromkeys(tasks, known.at_twin)

    state = {known.task: nothing_measured(known.attributed, np.abs(known.attributed), known.groups, draw)}
    return run_rounds(state, [known.exact.shape[1]], turns, thorough, look_up, at_twins)[known.task]


def _inside(summary: Summary, truth: Array) -> NDArray[np.bool_]:
    return (summary.low <= truth) & (truth <= summary.high)


def _time(context: RunContext, quantity: TaskQuantity, bound: str) -> None:
    """The map of one task as `ablate` makes it, over its exact effects on all examples. Of the cells of those some are
    timed, half before the map and half after it, because the machine may be faster at one time than at another; the
    others count by their tokens."""
    with tempfile.TemporaryDirectory() as folder:
        alone = replace(quantity, context=context.with_runner(Runner(Path(folder), Reporter(quiet=True))))
        units = single_heads(context.heads)
        cells = [cell for _, _, cell in exact_cells({quantity.task: alone}, {quantity.task: units})]
        timed = cells[:: max(1, len(cells) // SAMPLE)]
        turns, thorough = _quick_settings()

        def exact(some: Sequence[Cell]) -> float:
            return processor_seconds(lambda: [cell.compute() for cell in some])

        quantities = {quantity.task: alone}
        twins = mirrored(quantities)
        before = exact(timed[::2])
        spent = processor_seconds(lambda: measure_in_rounds("", quantities, twins, (units,), turns, thorough, 0))
        whole = (before + exact(timed[1::2])) * sum(cell.tokens for cell in cells) / sum(cell.tokens for cell in timed)
    what = f"{quantity.task}, {len(alone.items)} examples"
    report(f"{what}: time of everything exact over that of the map", whole / spent, "x", bound)
    report(f"{what}: processor seconds of the map", spent, "s", "")
