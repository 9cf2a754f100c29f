"""Gate fits: a step against a forward, a quick fit against one with larger batches, and against plain Adam."""

from __future__ import annotations

import resource
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from benchmarks.clock import interleaved, report, seconds
from headatlas.methods.gate.cells import FitKey, Fitted
from headatlas.methods.gate.gate import Gate
from headatlas.methods.gate.likelihood import TaskLoss, mean_nll, task_portions, task_quantity
from headatlas.methods.gate.stages import fit_stages
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import TaskQuantity
from headatlas.suites.cognitive import cognitive
from headatlas.workflows.presets import PRESETS

LIMITS = {"Syntactic Understanding": 60, "Math Calculation": 120}  # seconds of a quick fit
QUICK = Gate(**{**Gate.presets["quick"], "seeds": 1})
LARGE = replace(QUICK, steps=16, batch=12, noise=1.0, check=4)  # twice the examples
# What the paper does: Adam for 500 steps at a constant rate, no logit held within bounds, nothing stopped early.
PLAIN = Gate(gates="paper", steps=500, schedule="constant", project=False, check=500)


def run(model: HeadModel) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for task, limit in LIMITS.items():
            _step(_context(model, Path(folder) / "step"), task)
            _quick(_context(model, Path(folder) / "quick"), task, limit)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    report("gates: peak memory of the whole run", peak, "GB", "below 4")


def against_plain(model: HeadModel) -> None:
    """The objective of the quick fit of the paper's gates against that of 500 plain steps from the same start, on the
    examples that were fitted and on others. Takes hours."""
    with tempfile.TemporaryDirectory() as folder:
        context = _context(model, Path(folder))
        for task in LIMITS:
            soft = replace(QUICK, gates="paper")
            quick, plain = (_reached(context, task, settings) for settings in (soft, PLAIN))
            for (stage, split), value in plain.items():
                what = f"gates, {task}, {stage} on {split}"
                report(f"{what}: objective after 500 plain steps", value, "nats", "")
                excess = 100 * (quick[stage, split] - value) / abs(value)
                report(f"{what}: quick fit above it", excess, "%", "at most 5")


def _context(model: HeadModel, folder: Path) -> RunContext:
    """The quick preset of the two tasks."""
    limits = PRESETS["quick"].limits
    assert limits is not None
    splits = cognitive().only(LIMITS).split(0)
    splits = {split: suite.limit(limits[split], 0) for split, suite in splits.items()}
    return RunContext(model, splits, Runner(folder, Reporter(quiet=True)), Encoder(model))


def _step(context: RunContext, task: str) -> None:
    portion = task_portions(task_quantity(context, task, "fit"), Gate().batch)[-1]
    loss, batch = TaskLoss([portion], [portion]), portion.batch
    gates = torch.full((1, 1, *context.model.shape), 0.9, dtype=torch.float64)

    def forward() -> None:
        with torch.inference_mode():
            batch.score(context.model)

    plain, step = interleaved([forward, lambda: loss.train(lambda _: gates, 0)])
    what = f"{batch.size} prompts x {batch.ids.shape[1]} tokens"
    report(f"gate step, {task}, {what}: times a forward", step / plain, "x", "at most 2.3")
    report(f"gate step, {task}", step, "s", "")


def _quick(context: RunContext, task: str, limit: int) -> None:
    spent, large = (seconds(partial(fit_stages, settings, context, [task])) for settings in (QUICK, LARGE))
    report(f"gates, {task}: quick fit, one seed, both stages", spent, "s", f"at most {limit}")
    report(f"gates, {task}: over one with batches of 12", spent / large, "x", "at most 0.6")


def _reached(context: RunContext, task: str, settings: Gate) -> dict[tuple[str, str], float]:
    """The objective of every stage over all of `fit` and all of `evaluate`."""
    fits = fit_stages(settings, context, [task])[task]
    return {
        (fit.stage, split): _objective(task_quantity(context, task, split), fit, fitted, settings)
        for fit, fitted in fits.items()
        for split in ("fit", "evaluate")
    }


def _objective(quantity: TaskQuantity, fit: FitKey, fitted: Fitted, settings: Gate) -> float:
    nll = float(mean_nll(task_portions(quantity, settings.batch), torch.from_numpy(fitted.gates)[None])[0])
    return nll - fit.penalty * float(fitted.logits.clamp(-settings.clamp, settings.clamp).mean())
