"""An atlas that grows: it can be read after every method, and at the end looks as if it had been written at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.declarations import MethodInfo
from headatlas.atlas.portraits import remove_portraits
from headatlas.atlas.records import HeadMap
from headatlas.atlas.run_record import CellCounts, RunRecord, write_run
from headatlas.atlas.writing import write_diagnostics, write_noise, write_scores
from headatlas.files import remove
from headatlas.methods.base import Measured, Method
from headatlas.run.cells import Runner
from headatlas.wording import count, listed
from headatlas.workflows.choose_methods import in_turn

SCORES = "scores.parquet"


@dataclass(frozen=True)
class Earlier:
    """The finished map that is in a folder: its scores, which the evidence beside them is about, and its run.json."""

    scores: bytes
    run: RunRecord


def earlier_map(out: Path) -> Earlier | None:
    """None where no run has come to its end in the folder."""
    if not (out / "run.json").exists() or not (out / SCORES).exists():
        return None
    run = Atlas(out).run
    return Earlier((out / SCORES).read_bytes(), run) if run.finished else None


def replaced(earlier: RunRecord, record: RunRecord, out: Path) -> str:
    """What happens to the map that is in a folder, where another one is about to be made there; empty where the same is
    made again."""

    def asked(run: RunRecord) -> tuple[object, ...]:
        return run.model.fingerprint, run.suite.fingerprint, run.suite.tasks, run.settings

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
    earlier: Earlier | None
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
        earlier = self.earlier
        if earlier is not None and earlier.scores == (self.out / SCORES).read_bytes():
            self.record.tests, self.record.verifications = earlier.run.tests, earlier.run.verifications
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
