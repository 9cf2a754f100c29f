"""`headatlas.verify`: take the maps of an atlas, intervene on the model, and write what comes of it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.lock import locked
from headatlas.atlas.records import Evidence
from headatlas.atlas.run_record import Verification, write_run
from headatlas.atlas.writing import write_evidence
from headatlas.errors import UsageError
from headatlas.evidence.base import EvidenceTest, with_q_values
from headatlas.evidence.trial import Trial
from headatlas.model import bundled
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.store import FolderStore
from headatlas.suites.suite import Suite
from headatlas.views.terminal.stages import evidence_line
from headatlas.workflows.executors import Local, choose_executor
from headatlas.workflows.lead import lead
from headatlas.workflows.order import absolute
from headatlas.workflows.prepare_tests import Prepared, TestOrder, check_finished, outcomes, prepare_tests
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
    command: str | None = None,
    workers: int | None = None,
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
    check_finished(atlas)
    executor = choose_executor("local", workers)
    assert isinstance(executor, Local)
    if executor.workers > 1 and (isinstance(model, HeadModel) or suite is not None):
        raise UsageError(
            f"`workers` {workers} were asked for, but the model or the suite was given as an object of this process. "
            "Give the folder of a model, or leave both out: then they are those of the atlas."
        )
    order = TestOrder(
        tests=None if tests is None else list(tests), method=method, preset=preset, ks=None if ks is None else list(ks),
        draws=draws, limit=limit, baseline=baseline, measure=measure, distractors=distractors,
        model=None if model is None or isinstance(model, HeadModel) else absolute(model, {bundled.NAME}),
        load_options=dict(load_options or {}), command=command,
    )  # fmt: skip
    try:
        threads = executor.enter()
        with locked(atlas.path):
            given = model if isinstance(model, HeadModel) else None
            ready = prepare_tests(atlas, order, reporter, given, suite)
            with _shared(atlas, ready.trial, order.model_copy(update={"threads": threads}), executor, reporter):
                rows = _run(ready, reporter)
            _write(atlas, ready.method, ready.tests, ready.settings, rows)
    finally:
        executor.stop()
    seconds = time.monotonic() - began
    reporter.say(f"{len(rows)} results in {seconds:.0f} s, in {atlas.path / 'evidence.parquet'}.")
    tested = Atlas(atlas.path)
    publish(tested, reporter, sources=("test",))
    return tested


@contextmanager
def _shared(atlas: Atlas, trial: Trial, order: TestOrder, executor: Local, reporter: Reporter) -> Iterator[None]:
    """Cells are shared out among the workers, where there are several."""
    if executor.workers == 1:
        yield
        FolderStore(atlas.path).close()  # several workers that were killed may have left something
        return
    with lead(atlas.path, order, executor, trial.context, None, reporter) as context:
        trial.context = context
        yield


def _run(ready: Prepared, reporter: Reporter) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    of_all = {"model": ready.trial.context.model.name, "method": ready.method, "settings": _key(ready.settings)}
    began = time.monotonic()
    for test, found in outcomes(ready):
        evidence = with_q_values(found)
        _say_what_is_missing(test.info.name, evidence, reporter)
        rows += [{**of_all, **asdict(row)} for row in evidence]
        reporter.say(evidence_line(test.info, evidence, time.monotonic() - began))
        began = time.monotonic()
    return rows


def _say_what_is_missing(test: str, rows: Sequence[Evidence], reporter: Reporter) -> None:
    """Which tasks have no intervals, and why: every reason once."""
    tasks: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.remark:
            tasks.setdefault(row.remark, {})[row.eval_task or row.task] = None
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
