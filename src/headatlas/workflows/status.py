"""`headatlas status`: how far a map or its tests are, read from the folder while others write it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headatlas.atlas.run_record import RunRecord, read_run
from headatlas.run.store import PLAN, TESTING, FolderStore, read_json
from headatlas.run.worker import Worker


@dataclass(frozen=True)
class StageStatus:
    """The cells of one stage, as far as they are known. A stage that has not begun has those of the plan."""

    name: str
    cells: int
    done: int = 0
    running: int = 0
    failed: int = 0
    begun: bool = True
    tokens_left: int = 0


@dataclass(frozen=True)
class Status:
    """How far a map is, or its tests. `seconds_left` is None where nobody works or nothing is known of its speed yet.

    `command` is what was asked for; None where a map or its tests were asked for in Python.
    """

    stages: list[StageStatus]
    workers: list[Worker]
    gone: list[str]  # the names of workers that are known to be dead, or have ended
    failures: list[str]
    tokens_per_second: float
    record: RunRecord | None
    command: str | None
    testing: bool = False

    @property
    def present(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.name not in self.gone]

    @property
    def is_over(self) -> bool:
        """Whether the map is made, and nobody began tests without ending them."""
        return not self.testing and not self.stages and self.record is not None and not self.record.pending

    @property
    def seconds_left(self) -> float | None:
        if not self.present or not self.tokens_per_second:
            return None
        return sum(stage.tokens_left for stage in self.stages) / self.tokens_per_second


def read_status(out: Path) -> Status:
    """Of an atlas folder, whether it is finished, being made, or left by a run that was killed."""
    store = FolderStore(out)
    steps = store.steps()
    record = None if store.work.is_dir() and not (out / "run.json").exists() else read_run(out)
    finished, claims, failures = store.finished(), store.claims(), store.failures()
    computing = {key for worker in store.workers() if not worker.is_gone for key in worker.computing} | set(claims)
    stages: dict[str, StageStatus] = {}
    for step in steps:
        stages[step["stage"]] = _with_step(stages.get(step["stage"]), step, finished, computing, set(failures))
    for planned in (read_json(store.work / PLAN) or []) if steps else []:
        if planned["name"] not in stages and planned["cells"]:
            name, cells, tokens = planned["name"], planned["cells"], planned["tokens"]
            stages[name] = StageStatus(name, cells, begun=False, tokens_left=tokens)
    workers = store.workers()
    gone = [worker.name for worker in workers if worker.is_gone]
    tests = read_json(store.work / TESTING)
    if not store.work.is_dir():  # the map was done meanwhile
        return Status([], [], [], [], 0.0, read_run(out), None)
    rate = sum(worker.tokens / worker.busy for worker in workers if worker.busy and worker.name not in gone)
    command = tests.get("command") if tests else record.asked.command if record else None
    return Status(
        list(stages.values()), workers, gone, list(failures.values()), rate, record, command, testing=tests is not None
    )


def _with_step(
    stage: StageStatus | None, step: dict[str, Any], finished: frozenset[str], computing: set[str], failed: set[str]
) -> StageStatus:
    """A stage with the cells of one step more."""
    before = stage or StageStatus(step["stage"], 0)
    keys = {key for key, _ in step["cells"]}
    left = [(key, tokens) for key, tokens in step["cells"] if key not in finished and key not in failed]
    return StageStatus(
        before.name,
        before.cells + len(keys),
        before.done + len(keys & finished),
        before.running + sum(key in computing for key, _ in left),
        before.failed + len(keys & failed - finished),
        tokens_left=before.tokens_left + sum(tokens for _, tokens in left),
    )
