"""An atlas that grows: it can be read after every method, and at the end looks as if it had been written at once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.declarations import MethodInfo, TestInfo
from headatlas.atlas.portraits import remove_portraits
from headatlas.atlas.records import HeadMap
from headatlas.atlas.run_record import CellCounts, Record, RunRecord, Verification, write_run
from headatlas.atlas.writing import write_diagnostics, write_noise, write_scores
from headatlas.files import remove, write_bytes
from headatlas.methods.base import Measured, Method
from headatlas.run.cells import Runner
from headatlas.run.store import TESTED
from headatlas.wording import count, listed
from headatlas.workflows.choose_methods import in_turn

SCORES = "scores.parquet"


class Tested(Record):
    """The maps that the evidence in a folder is about, and what run.json said of their tests."""

    scores: str  # a hash of the file
    tests: list[TestInfo]
    verifications: list[Verification]


def tested_maps(out: Path, earlier: RunRecord | None) -> Tested | None:
    """Those of the `earlier` run that has come to its end in the folder, or of the last one that had before a run was
    killed there: they are kept beside its work. None where there is neither."""
    kept = out / "work" / TESTED
    if earlier and earlier.finished and (out / SCORES).exists():
        tested = Tested(scores=_hash(out), tests=earlier.tests, verifications=earlier.verifications)
        write_bytes(kept, tested.model_dump_json().encode())
        return tested
    try:
        return Tested.model_validate_json(kept.read_bytes())
    except (OSError, ValueError):
        return None


def _hash(out: Path) -> str:
    return hashlib.sha256((out / SCORES).read_bytes()).hexdigest()


def replaced(earlier: RunRecord, record: RunRecord, out: Path) -> str:
    """What happens to the map that is in a folder, where another one is about to be made there; empty where the same is
    made again."""

    def asked(run: RunRecord) -> tuple[object, ...]:
        settings = run.settings.model_dump_json()  # as in the file, where a tuple has become a list
        return run.model.fingerprint, run.suite.fingerprint, run.suite.tasks, settings

    if asked(earlier) == asked(record):
        return ""
    again = f": {earlier.asked.command}" if earlier.asked.command else ""
    made = f"{count(len(earlier.suite.tasks), 'task')} by {listed(info.name for info in earlier.methods)}"
    return (
        f"{out} holds another finished map, of {made}; its maps, tests and portraits give way to this one. What it "
        f"measured stays in {out / 'cells'}, so the same command gives it back soon{again}. For both, give two folders."
    )


@dataclass
class Growth:
    """What a run has measured so far. Tables hold the methods in the order in which they were asked for.

    Tables are written before run.json, which names the methods that they hold: whoever reads run.json first, as `Atlas`
    does, never sees half a stage.
    """

    record: RunRecord
    out: Path
    model: str
    tested: Tested | None
    asked: list[str] = field(default_factory=list)
    done: dict[str, tuple[MethodInfo, Measured]] = field(default_factory=dict)

    def begin(self, methods: Sequence[Method]) -> Atlas:
        """An atlas without maps, once it is known which methods are to come."""
        self.record.pending = [method.info.name for method in in_turn(methods)]
        self.asked = [method.info.name for method in methods]
        return self._write()

    def add(self, method: Method, measured: Measured, runner: Runner, now: str, seconds: float) -> Atlas:
        """The atlas with one method more; finished `now`, after `seconds`, if that was the last one."""
        self.done[method.info.name] = _mapped(method.info, measured), measured
        record, done = self.record, self._in_order()
        record.pending.remove(method.info.name)
        record.methods = [info for info, _ in done]
        record.quantities = {info.name: part.quantities for info, part in done if part.quantities}
        record.doubts = {info.name: part.doubts for info, part in done if part.doubts}
        record.default_method = default_method(record, self.maps)
        record.cells = CellCounts(computed=len(runner.computed), reused=len(runner.reused))
        if not record.pending:
            record.finished, record.seconds = now, round(seconds, 1)
        return self._write()

    @property
    def maps(self) -> list[HeadMap]:
        """All maps so far."""
        return [head_map for _, part in self._in_order() for head_map in part.maps]

    def _in_order(self) -> list[tuple[MethodInfo, Measured]]:
        return [self.done[name] for name in self.asked if name in self.done]

    def _write(self) -> Atlas:
        diagnostics = [entry for _, part in self._in_order() for entry in part.diagnostics]
        write_diagnostics(self.out, self.model, diagnostics)
        write_noise(self.out, self.model, self.maps)
        write_scores(self.out, self.model, self.maps, self.record.methods)
        if not self.record.pending:
            self._settle_evidence()
        write_run(self.out, self.record)
        return Atlas(self.out)

    def _settle_evidence(self) -> None:
        """Evidence and portraits of heads stay if they are about the same maps."""
        tested = self.tested
        if tested is not None and tested.scores == _hash(self.out):
            self.record.tests, self.record.verifications = tested.tests, tested.verifications
        else:
            remove(self.out / "evidence.parquet")
            remove_portraits(self.out)


def _mapped(info: MethodInfo, measured: Measured) -> MethodInfo:
    """The declaration of a method with the measures that it gave this time."""
    given = {head_map.measure for head_map in measured.maps}
    if not given:
        return info
    return info.model_copy(update={"measures": tuple(measure for measure in info.measures if measure.name in given)})


def default_method(record: RunRecord, maps: Sequence[HeadMap]) -> str | None:
    """Of the methods that mapped every head, the one with the highest priority; else of all that made maps."""
    every = record.model.layers * record.model.heads
    candidates = []
    for info in record.methods:
        primary = [head_map for head_map in maps if (head_map.method, head_map.measure) == (info.name, info.primary)]
        if primary:
            complete = all(len(head_map.heads) == every for head_map in primary)
            candidates.append((complete, info.priority, info.name))
    return max(candidates, key=lambda candidate: candidate[:2])[2] if candidates else None
