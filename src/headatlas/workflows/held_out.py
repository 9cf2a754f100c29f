"""What a map is tested with: its suite and model again, held-out examples, and the heads that it chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence.base import SPLIT, TestSettings
from headatlas.evidence.choice import Ranking
from headatlas.evidence.trial import Trial
from headatlas.model.editing import edited_from
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.competence import competence
from headatlas.run.context import RunContext
from headatlas.run.crew import Crew
from headatlas.run.encoding import Encoder
from headatlas.run.quantity import TaskQuantity, plan_quantity
from headatlas.run.selection import split_examples
from headatlas.stats import Array
from headatlas.suites import load_suite
from headatlas.suites.example import Example
from headatlas.suites.neutral.generate import TASK as NEUTRAL
from headatlas.suites.suite import MAPPED, SPLITS, Suite, rank


def suite_of(atlas: Atlas, suite: Suite | None) -> Suite:
    """The whole suite of the atlas, loaded again or given."""
    asked, mapped = atlas.run.asked, atlas.run.suite
    if suite is None:
        if asked.suite is None:
            raise UsageError(f"The suite {mapped.name!r} was made in Python; give it again with `suite`.")
        suite = load_suite(asked.suite, asked.level)
    of_atlas = suite.only(asked.tasks) if asked.tasks else suite
    if of_atlas.fingerprint != mapped.fingerprint:
        raise HeadAtlasError(
            f"The suite {suite.name!r} is not the one of this atlas (fingerprint {of_atlas.fingerprint}, not "
            f"{mapped.fingerprint}). Map again, or give the suite it was made with."
        )
    return suite


def held_out_examples(
    atlas: Atlas, method: str, suite: Suite, settings: TestSettings
) -> tuple[dict[str, Suite], list[Example]]:
    """The splits of the mapped tasks and of the neutral one; and the steps of held-out chains.

    `fit` and `choose` are as they were for the map; of `evaluate`, which it did not use, as much as is asked for.
    """
    asked, how = atlas.run.asked, atlas.run.settings
    of_atlas = suite.only(asked.tasks) if asked.tasks else suite
    limits = how.limits and {**how.limits, SPLIT: max(len(of_atlas.examples), 1)}
    splits = split_examples(of_atlas, limits, how.split_seed)
    chains = held_out_chains(suite, splits[SPLIT], settings, how.split_seed)
    wanted = set(atlas.tasks_of(method))
    splits = {split: part.keep(lambda example: example.task in wanted) for split, part in splits.items()}
    if NEUTRAL not in of_atlas.tasks:
        neutral = load_suite("neutral").split(how.split_seed)
        most = {split: max(len(part.of(task)) for task in part.tasks) for split, part in splits.items()}
        added = {split: neutral[split].limit(most[split], how.split_seed).examples for split in SPLITS}
        splits = {split: replace(part, examples=part.examples + added[split]) for split, part in splits.items()}
    return splits, chains


def held_out_chains(suite: Suite, evaluate: Suite, settings: TestSettings, seed: int) -> list[Example]:
    """Whole chains of the suite's `evaluate` split, steps of tasks that were not mapped included; of the built-in
    chains where the suite has none."""
    if settings.chains == 0:
        return []
    held_out = {example.group for example in evaluate.examples}
    steps = [example for example in suite.examples if example.chain is not None and example.group in held_out]
    if not steps:
        steps = list(load_suite("chains").split(seed)[SPLIT].examples)
    names = sorted({example.chain for example in steps if example.chain is not None}, key=lambda name: rank(seed, name))
    wanted = set(names[: settings.chains])
    return [example for example in steps if example.chain in wanted]


def model_of(
    atlas: Atlas, model: HeadModel | str | Path | None, load_options: Mapping[str, Any], reporter: Reporter
) -> HeadModel:
    """The model of the atlas, loaded as it was, or the given one; in either case with the same weights."""
    asked, mapped = atlas.run.asked, atlas.run.model
    source = model or asked.model
    if not isinstance(model, HeadModel):
        if model is None and asked.model is None:
            raise UsageError(f"The model {mapped.name!r} was given in memory; give it again with `model`.")
        # Whether code that comes with a model may run is for the one who runs it to say, not for the atlas.
        recorded = {key: value for key, value in asked.load.items() if key != "trust_remote_code"}
        options = recorded | {key: value for key, value in load_options.items() if value}
        model = load(model or asked.model or "", reporter=reporter, **options)
    if (fingerprint := model.fingerprint()) != mapped.fingerprint:
        edited = edited_from(str(source)) is not None
        why = "it is an edited model" if edited else "its weights or its configuration differ"
        raise HeadAtlasError(
            f"{model.name} is not the model of this atlas (fingerprint {fingerprint}, not {mapped.fingerprint}): "
            f"{why}. Map it first."
        )
    return model


def prepare_trial(
    atlas: Atlas,
    model: HeadModel,
    method: str,
    measure: str,
    splits: dict[str, Suite],
    chains: list[Example],
    suite: Suite,
    settings: TestSettings,
    reporter: Reporter,
) -> Trial:
    """The trial of a method's maps, whose heads are ranked by one of its measures."""
    how = atlas.run.settings
    context = RunContext(
        model, splits, Runner(atlas.path / "cells", reporter, crew=Crew.of(model)), Encoder(model, how.chat)
    )
    splits = as_mapped(atlas, context)
    if settings.examples is not None:
        splits[SPLIT] = splits[SPLIT].limit(settings.examples, how.split_seed)
    tasks, mapped_on = atlas.tasks_of(method), context.with_splits(splits)
    measures = atlas.measures_of(method)
    maps = {task: {measure: atlas.grid(task, method, measure) for measure in measures} for task in tasks}
    quantities = {task: _quantity(atlas, method, mapped_on, task) for task in tasks}
    knows = suite.knowledge.high_level or settings.chains == 0
    knowledge = suite.knowledge if knows else load_suite("chains").knowledge
    return Trial(
        mapped_on,
        tasks,
        {task: Ranking.from_map(atlas.ranking(task, method, measure), maps[task][measure]) for task in tasks},
        settings,
        chains,
        maps,
        NEUTRAL,
        knowledge.low_level,
        knowledge.high_level,
        twinned=[task for task, quantity in quantities.items() if quantity.baseline == "twin"],
        units={
            task: total
            for task, quantity in quantities.items()
            if quantity.metric == "margin" and (total := _needed_in_all(maps[task])) > 0
        },
    )


def as_mapped(atlas: Atlas, context: RunContext) -> dict[str, Suite]:
    """The splits with the examples that maps were made from: known ones alone where that was asked for.

    Of held-out items all are tested: had the known ones been selected, any change would look like damage.
    """
    if not atlas.run.settings.known_only:
        return dict(context.splits)
    known = competence(context)[1]
    return {
        split: part.keep(lambda e: e.id in known or e.task not in atlas.tasks) if split != SPLIT else part
        for split, part in context.splits.items()
    }


def _quantity(atlas: Atlas, method: str, context: RunContext, task: str) -> TaskQuantity:
    """What the map of a task was made from; for a method that does not choose it, what others would choose."""
    how = atlas.run.settings.methods.get(method, {})
    return plan_quantity(context, task, MAPPED, how.get("metric"), how.get("baseline"), how.get("seed", 0))


def _needed_in_all(measures: Mapping[str, Array]) -> float:
    """The sum of the positive effects of single heads, of which `share` is the share; 0 where a map has no shares."""
    return float(np.nansum(np.clip(measures["needed"], 0, None))) if "share" in measures else 0.0
