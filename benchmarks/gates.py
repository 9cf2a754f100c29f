"""Gate fits: a step against a forward, the time of a quick fit, and what it reaches against plain Adam."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import torch

from benchmarks.clock import interleaved, report, seconds
from headatlas.methods.gate.cells import Kept, Wanted
from headatlas.methods.gate.gate import Gate
from headatlas.methods.gate.likelihood import TaskLoss, batches_of, mean_nll
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import Work
from headatlas.run.scoring import Encoder
from headatlas.suites.cognitive import cognitive
from headatlas.workflows.map import PRESETS

LIMITS = {"Syntactic Understanding": 60, "Math Calculation": 120}  # seconds of a quick fit
QUICK = Gate(**{**PRESETS["quick"].gate, "seeds": 1})  # type: ignore[arg-type]
# What the paper does: Adam for 500 steps at a constant rate, nothing kept within bounds, nothing stopped early.
PLAIN = Gate(steps=500, schedule="constant", project=False, check=500)


def run(model: HeadModel) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for task, limit in LIMITS.items():
            _step(_work(model, Path(folder) / "step"), task)
            _quick(_work(model, Path(folder) / "quick"), task, limit)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    report("gates: peak memory of the whole run", peak, "GB", "below 4")


def against_plain(model: HeadModel) -> None:
    """The objective of the quick fit against that of 500 plain steps from the same start, on the examples that were
    fitted and on others. Takes hours."""
    with tempfile.TemporaryDirectory() as folder:
        work = _work(model, Path(folder))
        for task in LIMITS:
            quick, plain = (_reached(work, task, settings) for settings in (QUICK, PLAIN))
            for (stage, split), value in plain.items():
                what = f"gates, {task}, {stage} on {split}"
                report(f"{what}: objective after 500 plain steps", value, "nats", "")
                excess = 100 * (quick[stage, split] - value) / abs(value)
                report(f"{what}: quick fit above it", excess, "%", "at most 5")


def _work(model: HeadModel, folder: Path) -> Work:
    """The quick preset of the two tasks."""
    limits = PRESETS["quick"].limits
    assert limits is not None
    splits = cognitive().only(LIMITS).split(0)
    splits = {split: suite.limit(limits[split], 0) for split, suite in splits.items()}
    return Work(model, splits, Runner(folder, Reporter(quiet=True)), Encoder(model))


def _step(work: Work, task: str) -> None:
    batch = batches_of(work, task, "fit", Gate().batch)[-1]
    loss = TaskLoss(work.model, [batch], [batch])
    gates = torch.full((1, *work.model.shape), 0.9, dtype=torch.float64)

    def forward() -> None:
        with torch.inference_mode():
            batch.score(work.model)

    plain, step = interleaved([forward, lambda: loss.train(gates, 0)])
    what = f"{batch.size} prompts x {batch.ids.shape[1]} tokens"
    report(f"gate step, {task}, {what}: times a forward", step / plain, "x", "at most 2.3")
    report(f"gate step, {task}", step, "s", "")


def _quick(work: Work, task: str, limit: int) -> None:
    spent = seconds(lambda: QUICK.fits(work, [task], [QUICK.strength], [0]))
    report(f"gates, {task}: quick fit, one seed, three stages", spent, "s", f"at most {limit}")


def _reached(work: Work, task: str, settings: Gate) -> dict[tuple[str, str], float]:
    """The objective of every stage over all of `fit` and all of `evaluate`."""
    fits = settings.fits(work, [task], [settings.strength], [0])[task]
    return {
        (wanted.stage, split): _objective(work, batches_of(work, task, split, settings.batch), wanted, kept, settings)
        for wanted, kept in fits.items()
        for split in ("fit", "evaluate")
    }


def _objective(work: Work, batches: list, wanted: Wanted, kept: Kept, settings: Gate) -> float:
    logits = torch.from_numpy(kept.result["logits"].copy())
    nll = float(mean_nll(work.model, batches, torch.sigmoid(logits)[None])[0])
    return nll - wanted.strength * float(logits.clamp(-settings.clamp, settings.clamp).mean())
