"""`headatlas.verify`: take the maps of an atlas, intervene on the model, and write what comes of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.lock import locked
from headatlas.atlas.run_record import Verification, write_run
from headatlas.atlas.writing import write_evidence
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence import TESTS
from headatlas.evidence.base import EvidenceTest, with_q_values
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.suites.suite import Suite
from headatlas.workflows.held_out import held_out_examples, model_of, prepare_trial, suite_of
from headatlas.workflows.presets import choose_settings
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
    measure: str | None = None,
    distractors: bool = True,
    load_options: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> Atlas:
    """Test the maps of one method of an atlas on its `evaluate` split, and write `evidence.parquet` and its figures.

    The model and the suite are those of the atlas unless given, and must have the same fingerprints. Evidence about
    other methods and from other tests stays; a test that is run again replaces its earlier outcome, so one test never
    mixes settings. Heads are ranked by `measure`, the method's primary one unless given. Without `distractors` only
    answers are scored: no forced choice, but less to run.
    """
    began = time.monotonic()
    reporter = reporter or Reporter()
    atlas = atlas if isinstance(atlas, Atlas) else Atlas(atlas)
    if atlas.run.pending:
        raise HeadAtlasError(
            f"The atlas {atlas.path} is not finished. {atlas.run.still_to_come} Evidence would not outlast the rest of "
            f"the run; continue it with: {atlas.run.asked.command or 'headatlas.map'}"
        )
    method = atlas.choose_method(method)
    chosen = _tests(atlas, method, tests)
    name = preset or atlas.run.settings.preset
    settings = choose_settings(name, atlas.shape, ks, draws, limit, baseline, distractors)
    measure = atlas.choose_measure(method, measure)
    suite = suite_of(atlas, suite)
    splits, chains = held_out_examples(atlas, method, suite, settings)
    model = model_of(atlas, model, load_options or {}, reporter)
    with locked(atlas.path):
        trial = prepare_trial(atlas, model, method, measure, splits, chains, suite, settings, reporter)
        recorded = {"measure": measure, **asdict(settings)}
        rows: list[dict[str, Any]] = []
        for test in chosen:
            evidence = [asdict(row) for row in with_q_values(test.run(trial))]
            _say_what_is_missing(test.info.name, evidence, reporter)
            rows += [{"model": model.name, "method": method, "settings": _key(recorded), **row} for row in evidence]
            reporter.say(f"{test.info.name}: {len(evidence)} results.")
        _write(atlas, method, chosen, recorded, rows)
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


def _say_what_is_missing(test: str, rows: Sequence[Mapping[str, Any]], reporter: Reporter) -> None:
    """Which tasks have no intervals, and why: every reason once."""
    tasks: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["remark"]:
            tasks.setdefault(row["remark"], {})[row["eval_task"] or row["task"]] = None
    for remark, names in tasks.items():
        reporter.say(f"{test}: no interval for {', '.join(names)}: {remark}.")


def _key(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


def _write(
    atlas: Atlas,
    method: str,
    tests: Sequence[EvidenceTest],
    settings: Mapping[str, Any],
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
        Verification(key=_key(settings), method=method, test=name, settings=dict(settings), finished=finished)
        for name in names
    ]
    write_evidence(atlas.path, [*untouched, *rows])
    write_run(atlas.path, run)
