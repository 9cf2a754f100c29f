"""`headatlas.verify`: take the maps of an atlas, intervene on the model, and write what comes of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.lock import locked
from headatlas.atlas.run_record import Verification, write_run
from headatlas.atlas.writing import write_evidence
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence import TESTS
from headatlas.evidence.base import SPLIT, EvidenceTest, TestSettings
from headatlas.evidence.choice import Ranking
from headatlas.evidence.trial import Trial
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.competence import competence
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.selection import split_examples
from headatlas.run.settings import check_baseline
from headatlas.suites import load_suite
from headatlas.suites.example import Example
from headatlas.suites.neutral.generate import TASK as NEUTRAL
from headatlas.suites.suite import SPLITS, Suite, rank
from headatlas.workflows.presets import TEST_PRESETS, check_preset
from headatlas.workflows.publish import publish


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
    distractors: bool = True,
    load_options: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> Atlas:
    """Test the maps of one method of an atlas on its `evaluate` split, and write `evidence.parquet` and its figures.

    The model and the suite are those of the atlas unless given, and must have the same fingerprints. Evidence about
    other methods and from other tests stays; a test that is run again replaces its earlier outcome, so one test never
    mixes settings. Without `distractors` only answers are scored: no forced choice, but less to run.
    """
    began = time.monotonic()
    reporter = reporter or Reporter()
    atlas = atlas if isinstance(atlas, Atlas) else Atlas(atlas)
    method = atlas.choose_method(method)
    chosen = _tests(atlas, method, tests)
    settings = _settings(atlas, preset, ks, draws, limit, baseline, distractors)
    suite = _suite(atlas, suite)
    splits, chains = _examples(atlas, method, suite, settings)
    model = _model(atlas, model, load_options or {}, reporter)
    with locked(atlas.path):
        trial = _trial(atlas, model, method, splits, chains, suite, settings, reporter)
        key = _settings_key(settings)
        rows: list[dict[str, Any]] = []
        for test in chosen:
            evidence = [asdict(row) for row in test.run(trial)]
            rows += [{"model": model.name, "method": method, "settings": key, **row} for row in evidence]
            reporter.say(f"{test.info.name}: {len(evidence)} results.")
        _write(atlas, method, chosen, settings, key, rows)
    seconds = time.monotonic() - began
    reporter.say(f"{len(rows)} results in {seconds:.0f} s, in {atlas.path / 'evidence.parquet'}.")
    tested = Atlas(atlas.path)
    publish(tested, reporter)
    return tested


def _tests(atlas: Atlas, method: str, names: Sequence[str] | None) -> list[EvidenceTest]:
    """The tests asked for, or all that apply to the method."""
    info = atlas.info(method)
    if names is None:
        chosen = [test for _, test in TESTS.items() if test.info.applies_to(info)]
        if not chosen:
            raise HeadAtlasError(f"No test applies to the maps of {method!r}.")
    else:
        chosen = [TESTS[name] for name in names]
        for test in chosen:
            if not test.info.applies_to(info):
                needs = f" It needs the measures {', '.join(test.info.needs)}." if test.info.needs else ""
                raise UsageError(f"The test {test.info.name!r} does not apply to the maps of {method!r}.{needs}")
    return [test() for test in chosen]


def _settings(
    atlas: Atlas,
    preset: str | None,
    ks: Sequence[int] | None,
    draws: int | None,
    limit: int | None,
    baseline: str | None,
    distractors: bool,
) -> TestSettings:
    settings = TEST_PRESETS[check_preset(preset or atlas.run.settings.preset)]
    layers, heads = atlas.shape
    for name, value, least, most in (
        *(("k", k, 1, layers * heads - 1) for k in ks or ()),
        ("draws", draws, 1, None),
        ("limit", limit, 2, None),
    ):
        if value is not None and (value < least or (most is not None and value > most)):
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            raise UsageError(f"`{name}` {value} was asked for; it must be {bounds}.")
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
        distractors=distractors,
    )


def _suite(atlas: Atlas, suite: Suite | None) -> Suite:
    """The whole suite of the atlas, loaded again or given."""
    asked, mapped = atlas.run.asked, atlas.run.suite
    if suite is None:
        if asked.suite is None:
            raise UsageError(f"The suite {mapped.name!r} was made in Python; give it again: verify(..., suite=...).")
        suite = load_suite(asked.suite, asked.level)
    of_atlas = suite.only(asked.tasks) if asked.tasks else suite
    if of_atlas.fingerprint != mapped.fingerprint:
        raise HeadAtlasError(
            f"The suite {suite.name!r} is not the one of this atlas (fingerprint {of_atlas.fingerprint}, not "
            f"{mapped.fingerprint}). Map again, or give the suite it was made with."
        )
    return suite


def _examples(
    atlas: Atlas, method: str, suite: Suite, settings: TestSettings
) -> tuple[dict[str, Suite], list[Example]]:
    """The splits of the mapped tasks and of the neutral one; and the steps of held-out chains.

    `fit` and `choose` are as they were for the map; of `evaluate`, which it did not use, as much as is asked for.
    """
    asked, how = atlas.run.asked, atlas.run.settings
    of_atlas = suite.only(asked.tasks) if asked.tasks else suite
    limits = how.limits and {**how.limits, SPLIT: max(len(of_atlas.examples), 1)}
    splits = split_examples(of_atlas, limits, how.split_seed)
    chains = _chains(suite, splits[SPLIT], settings, how.split_seed)
    wanted = set(atlas.tasks_of(method))
    splits = {split: part.keep(lambda example: example.task in wanted) for split, part in splits.items()}
    if NEUTRAL not in of_atlas.tasks:
        neutral = load_suite("neutral").split(how.split_seed)
        most = {split: max(len(part.of(task)) for task in part.tasks) for split, part in splits.items()}
        added = {split: neutral[split].limit(most[split], how.split_seed).examples for split in SPLITS}
        splits = {split: replace(part, examples=part.examples + added[split]) for split, part in splits.items()}
    return splits, chains


def _chains(suite: Suite, evaluate: Suite, settings: TestSettings, seed: int) -> list[Example]:
    """Whole chains of the suite's `evaluate` split, steps of tasks that were not mapped included; of the built-in
    chains where the suite has none."""
    held_out = {example.group for example in evaluate.examples}
    steps = [example for example in suite.examples if example.chain is not None and example.group in held_out]
    if not steps:
        steps = list(load_suite("chains").split(seed)[SPLIT].examples)
    names = sorted({example.chain for example in steps if example.chain is not None}, key=lambda name: rank(seed, name))
    wanted = set(names[: settings.chains])
    return [example for example in steps if example.chain in wanted]


def _model(
    atlas: Atlas, model: HeadModel | str | Path | None, load_options: Mapping[str, Any], reporter: Reporter
) -> HeadModel:
    """The model of the atlas, loaded as it was, or the given one; in either case with the same weights."""
    asked, mapped = atlas.run.asked, atlas.run.model
    if not isinstance(model, HeadModel):
        if model is None and asked.model is None:
            raise UsageError(f"The model {mapped.name!r} was given in memory; give it again: verify(atlas, model).")
        # Whether code that comes with a model may run is for the one who runs it to say, not for the atlas.
        recorded = {key: value for key, value in asked.load.items() if key != "trust_remote_code"}
        options = recorded | {key: value for key, value in load_options.items() if value}
        model = load(model or asked.model or "", reporter=reporter, **options)
    if (fingerprint := model.fingerprint()) != mapped.fingerprint:
        raise HeadAtlasError(
            f"{model.name} is not the model of this atlas (fingerprint {fingerprint}, not {mapped.fingerprint}): "
            "its weights or its configuration differ. Map it first."
        )
    return model


def _trial(
    atlas: Atlas,
    model: HeadModel,
    method: str,
    splits: dict[str, Suite],
    chains: list[Example],
    suite: Suite,
    settings: TestSettings,
    reporter: Reporter,
) -> Trial:
    how = atlas.run.settings
    context = RunContext(model, splits, Runner(atlas.path / "cells", reporter), Encoder(model, how.chat))
    if how.known_only:
        known = competence(context)[1]
        splits = {s: part.keep(lambda e: e.id in known or e.task not in atlas.tasks) for s, part in splits.items()}
    if settings.examples is not None:  # of the known ones, where only those count
        splits[SPLIT] = splits[SPLIT].limit(settings.examples, how.split_seed)
    tasks = atlas.tasks_of(method)
    knowledge = suite.knowledge if suite.knowledge.high_level else load_suite("chains").knowledge
    return Trial(
        context.with_splits(splits),
        tasks,
        {task: Ranking.from_map(atlas.ranking(task, method), atlas.grid(task, method)) for task in tasks},
        settings,
        chains,
        {
            task: {measure.name: atlas.grid(task, method, measure.name) for measure in atlas.info(method).measures}
            for task in tasks
        },
        NEUTRAL,
        knowledge.low_level,
        knowledge.high_level,
    )


def _settings_key(settings: TestSettings) -> str:
    return hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode()).hexdigest()[:8]


def _write(
    atlas: Atlas,
    method: str,
    tests: Sequence[EvidenceTest],
    settings: TestSettings,
    key: str,
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Replace what these tests said of this method, and record how they were run."""
    names = [test.info.name for test in tests]
    current = Atlas(atlas.path)  # the one in memory may have been read before another verify
    earlier = current.evidence
    earlier = earlier[~((earlier["method"] == method) & earlier["test"].isin(names))]
    untouched = earlier.astype(object).where(earlier.notna(), None).to_dict("records")
    run = current.run
    run.tests = [info for info in run.tests if info.name not in names] + [test.info for test in tests]
    run.verifications = [entry for entry in run.verifications if (entry.method, entry.test) not in
                         {(method, name) for name in names}]  # fmt: skip
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    run.verifications += [
        Verification(key=key, method=method, test=name, settings=asdict(settings), finished=finished) for name in names
    ]
    write_evidence(atlas.path, [*untouched, *rows])
    write_run(atlas.path, run)
