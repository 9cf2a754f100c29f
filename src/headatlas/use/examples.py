"""The examples on which an edit is measured, and from which means and directions are taken."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headatlas.atlas.atlas import Atlas
from headatlas.evidence.base import SPLIT
from headatlas.evidence.trial import Trial
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.baselines import Baselines
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.suites import load_suite
from headatlas.suites.neutral.generate import TASK as NEUTRAL
from headatlas.suites.suite import SPLITS, Suite
from headatlas.workflows.held_out import held_out_examples, prepare_trial, suite_of
from headatlas.workflows.presets import DEFAULT, choose_settings

EXAMPLES = 32  # held-out examples per task, unless asked otherwise
FIT = 48  # examples of neutral text from which means are taken, where there is no atlas


def held_out(
    model: HeadModel, cells: Path, limit: int | None, reporter: Reporter, atlas: Atlas | None = None,
    suite: Suite | None = None, method: str | None = None, k: int | None = None,
) -> Trial:  # fmt: skip
    """The held-out examples of the atlas's tasks and of neutral text; of neutral text alone without an atlas."""
    settings = replace(choose_settings(DEFAULT, model.shape, ks=[k] if k else None, limit=limit or EXAMPLES), chains=0)
    if atlas is None:
        parts = load_suite("neutral").split(0)
        limits = {split: settings.examples or EXAMPLES if split == SPLIT else FIT for split in SPLITS}
        splits = {split: parts[split].limit(limits[split], 0) for split in SPLITS}
        context = RunContext(model, splits, Runner(cells, reporter), Encoder(model))
        return Trial(context, [NEUTRAL], {}, settings, neutral=NEUTRAL)
    method = atlas.choose_method(method)
    suite = suite_of(atlas, suite)
    splits, _ = held_out_examples(atlas, method, suite, settings)
    trial = prepare_trial(atlas, model, method, atlas.choose_measure(method), splits, [], suite, settings, reporter)
    trial.context = trial.context.with_runner(Runner(cells, reporter))
    return trial


def with_model(trial: Trial, model: HeadModel) -> Trial:
    """The same examples, for an edited copy of the model."""
    edited, context = copy.copy(trial), trial.context
    edited.context = RunContext(model, context.splits, context.runner, Encoder(model, context.encoder.chat))
    return edited


def mean_of_heads(trial: Trial, task: str) -> NDArray[np.float32]:
    """The mean of every head over the texts of a task in the fit split [layer, head, head_dim]."""
    context = trial.context
    only = context.with_splits({split: part.only([task]) for split, part in context.splits.items()})
    return Baselines("mean", only).mean(task).numpy()
