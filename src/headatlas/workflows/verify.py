"""`headatlas.verify`: take the maps of an atlas, intervene on the model, and write what comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from headatlas.atlas import reading as atlas_files
from headatlas.atlas.lock import locked
from headatlas.atlas.reading import Atlas
from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.evidence import TESTS, test_function
from headatlas.evidence.choice import Ranking
from headatlas.evidence.trial import SPLIT, Settings, Trial
from headatlas.methods.gate.roles import ROLES
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.run.baselines import check_baseline
from headatlas.run.cells import Runner
from headatlas.run.competence import competence
from headatlas.run.context import Work
from headatlas.run.scoring import Encoder
from headatlas.run.selection import split_examples
from headatlas.suites import load_suite
from headatlas.suites.example import Example
from headatlas.suites.neutral.generate import TASK as NEUTRAL
from headatlas.suites.suite import SPLITS, Suite, rank

PRESETS = {
    "quick": Settings(
        (16,), 16, draws=20, few_draws=2, sizes=(16, 64), examples=8, chains=4, strengths=(1.0, 5.0), scales=(0.5, 2.0)
    ),
    "standard": Settings(
        (1, 2, 4, 8, 16, 32), 16, draws=50, few_draws=10, sizes=(4, 8, 16, 32, 64, 128), examples=60, chains=40
    ),
    "paper": Settings(
        (1, 2, 4, 8, 16, 32, 64, 128), 32, draws=100, few_draws=20, sizes=(1, 2, 4, 8, 16, 32, 64, 128, 192),
        examples=None, chains=None,
    ),
}  # fmt: skip


def verify(
    atlas: Atlas | str | Path,
    model: HeadModel | str | Path | None = None,
    suite: Suite | None = None,
    *,
    tests: Sequence[str] | None = None,
    method: str | None = None,
    preset: str | None = None,
    ks: Sequence[int] | None = None,
    draws: int | None = None,
    limit: int | None = None,
    baseline: str | None = None,
    answers_only: bool = False,
    load_options: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> Atlas:
    """Test the maps of one method of an atlas on its `evaluate` split, and write `evidence.parquet` and its figures.

    The model and the suite are those of the atlas unless given, and must have the same fingerprints. Evidence about
    other methods and from other tests stays. `answers_only` scores no distractors: no accuracy, but less to run.
    """
    from headatlas.workflows.publish import publish

    started = time.time()
    reporter = reporter or Reporter()
    atlas = atlas if isinstance(atlas, Atlas) else Atlas(atlas)
    method = atlas.choose_method(method)
    chosen = list(tests) if tests is not None else [test for test in TESTS if test != "order" or method == "gate"]
    functions = {name: test_function(name) for name in chosen}
    settings = _settings(atlas, preset, ks, draws, limit, baseline, answers_only)
    splits, chains = _examples(atlas, method, suite, settings)
    model = _model(atlas, model, load_options or {}, reporter)
    with locked(atlas.path):
        trial = _trial(atlas, model, method, splits, chains, settings, reporter)
        found = []
        for name, function in functions.items():
            found += [{"model": model.name, "method": method, **asdict(row)} for row in function(trial)]
            reporter.say(f"{name}: {sum(row['test'] == name for row in found)} results.")
        kept = Atlas(atlas.path).evidence  # an atlas in memory may have read it before
        kept = kept[~((kept["method"] == method) & kept["test"].isin(chosen))]
        rows = kept.astype(object).where(kept.notna(), None).to_dict("records")
        atlas_files.write_evidence(atlas.path, [*rows, *found])
    reporter.say(f"{len(found)} results in {time.time() - started:.0f} s, in {atlas.path / 'evidence.parquet'}.")
    tested = Atlas(atlas.path)
    publish(tested, reporter)
    return tested


def _settings(
    atlas: Atlas,
    preset: str | None,
    ks: Sequence[int] | None,
    draws: int | None,
    limit: int | None,
    baseline: str | None,
    answers_only: bool,
) -> Settings:
    name = preset or atlas.run["settings"]["preset"]
    if name not in PRESETS:
        raise unknown("preset", name, PRESETS)
    settings = PRESETS[name]
    layers, heads = atlas.shape
    for asked, value, least, most in (
        *(("-k", k, 1, layers * heads - 1) for k in ks or ()),
        ("--draws", draws, 1, None),
        ("--limit", limit, 2, None),
    ):
        if value is not None and (value < least or (most is not None and value > most)):
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            raise UsageError(f"{asked} {value} was asked for; it must be {bounds}.")
    if baseline is not None:
        check_baseline(baseline)
    return replace(
        settings,
        ks=tuple(sorted(set(ks))) if ks else settings.ks,
        k=max(ks) if ks else settings.k,
        draws=draws or settings.draws,
        examples=limit or settings.examples,
        chains=limit or settings.chains,
        baseline=baseline or settings.baseline,
        answers_only=answers_only,
    )


def _examples(
    atlas: Atlas, method: str, suite: Suite | None, settings: Settings
) -> tuple[dict[str, Suite], list[Example]]:
    """The splits of the mapped tasks and of the neutral one; and the steps of held-out chains.

    `fit` and `choose` are as they were for the map; of `evaluate`, which it did not use, as much as is asked for.
    """
    asked, mapped = atlas.run["asked"], atlas.run["suite"]
    if suite is None:
        if asked["suite"] is None:
            raise UsageError(f"The suite {mapped['name']!r} was made in Python; give it again: verify(..., suite=...).")
        suite = load_suite(asked["suite"], asked["level"])
    whole, suite = suite, suite.only(asked["tasks"]) if asked["tasks"] else suite
    if suite.fingerprint != mapped["fingerprint"]:
        raise HeadAtlasError(
            f"The suite {suite.name!r} is not the one of this atlas (fingerprint {suite.fingerprint}, not "
            f"{mapped['fingerprint']}). Map again, or give the suite it was made with."
        )
    limits, seed = atlas.run["settings"]["limits"], atlas.run["seeds"]["split"]
    splits = split_examples(suite, limits and {**limits, SPLIT: max(len(suite.examples), 1)}, seed)
    chains = _chains(whole, splits[SPLIT], settings, seed)
    wanted = set(atlas.tasks_of(method))
    splits = {split: part.keep(lambda example: example.task in wanted) for split, part in splits.items()}
    if NEUTRAL not in suite.tasks:
        neutral = load_suite("neutral").split(seed)
        most = {split: max(len(part.of(task)) for task in part.tasks) for split, part in splits.items()}
        added = {split: neutral[split].limit(most[split], seed).examples for split in SPLITS}
        splits = {split: Suite(part.name, part.examples + added[split]) for split, part in splits.items()}
    return splits, chains


def _chains(suite: Suite, evaluate: Suite, settings: Settings, seed: int) -> list[Example]:
    """Whole chains of the suite's own `evaluate` split, steps of tasks that were not mapped included; of the built-in
    chains where the suite has none."""
    held_out = {example.group for example in evaluate.examples}
    own = [example for example in suite.examples if example.chain is not None and example.group in held_out]
    if not own:
        own = list(load_suite("chains").split(seed)[SPLIT].examples)
    names = sorted({example.chain for example in own if example.chain is not None}, key=lambda name: rank(seed, name))
    kept = set(names[: settings.chains])
    return [example for example in own if example.chain in kept]


def _model(
    atlas: Atlas, model: HeadModel | str | Path | None, load_options: Mapping[str, Any], reporter: Reporter
) -> HeadModel:
    """The atlas's own model, loaded as it was, or the given one; in either case with the same weights."""
    asked, mapped = atlas.run["asked"], atlas.run["model"]
    if not isinstance(model, HeadModel):
        if model is None and asked["model"] is None:
            raise UsageError(f"The model {mapped['name']!r} was given in memory; give it again: verify(atlas, model).")
        # Whether code that comes with a model may run is for the one who runs it to say, not for the atlas.
        recorded = {key: value for key, value in asked["load"].items() if key != "trust_remote_code"}
        options = recorded | {key: value for key, value in load_options.items() if value}
        model = load(model or asked["model"], reporter=reporter, **options)
    if (fingerprint := model.fingerprint()) != mapped["fingerprint"]:
        raise HeadAtlasError(
            f"{model.name} is not the model of this atlas (fingerprint {fingerprint}, not {mapped['fingerprint']}): "
            "its weights or its configuration differ. Map it first."
        )
    return model


def _trial(
    atlas: Atlas,
    model: HeadModel,
    method: str,
    splits: dict[str, Suite],
    chains: list[Example],
    settings: Settings,
    reporter: Reporter,
) -> Trial:
    run = atlas.run["settings"]
    work = Work(model, splits, Runner(atlas.path / "cells", reporter), Encoder(model, run["chat"]))
    if run["known_only"]:
        known = competence(work)[1]
        splits = {s: part.keep(lambda e: e.id in known or e.task not in atlas.tasks) for s, part in splits.items()}
    if settings.examples is not None:  # of the known ones, where only those count
        splits[SPLIT] = splits[SPLIT].limit(settings.examples, atlas.run["seeds"]["split"])
    work = work.restricted(splits)
    tasks = atlas.tasks_of(method)
    rankings = {task: Ranking.of(atlas.grid(task, method, seed=None)) for task in tasks}
    roles = {
        task: {role: atlas.grid(task, method, role, seed=None) for role in ROLES} for task in tasks if method == "gate"
    }
    return Trial(work, tasks, rankings, settings, chains, roles)
