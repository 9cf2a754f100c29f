"""Several processes make one map: the same bytes as one, and plain words when something goes wrong."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest

import headatlas as ha
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence import trial as trial_module
from headatlas.run.cells import CellKind
from headatlas.run.store import FolderStore
from headatlas.workflows import prepare_tests
from headatlas.workflows.executors import Local
from headatlas.workflows.executors import local as local_executor
from headatlas.workflows.executors.local import device_groups, visible_devices
from headatlas.workflows.map import make_map, map_heads
from headatlas.workflows.order import Order, make_order, read_order, write_order
from headatlas.workflows.status import read_status
from tests import tiny
from tests.workflows.dying import Killed, dying
from tests.workflows.same import assert_same

COMMAND = [sys.executable, "-m", "headatlas"]


class Patient(Local):
    """The driver computes nothing before others have computed something, and at the end waits until they end."""

    def start(self, out, order):
        super().start(out, order)
        self.store = FolderStore(out)
        while not self.store.finished():
            assert not (lost := self.lost()), lost
            read_status(out)
            time.sleep(0.05)
        self.status = read_status(out)

    def stop(self):
        if self.processes:
            while self.processes:
                assert not (lost := self.lost()), lost
                time.sleep(0.05)
            self.cells = {worker.pid: worker.cells for worker in self.store.workers()}
        super().stop()


class Unlucky(Patient):
    """Loses its first worker before that can have ended."""

    def start(self, out, order):
        Local.start(self, out, order)
        self.killed = self.processes[0]
        os.kill(self.killed, signal.SIGKILL)
        os.waitid(os.P_PID, self.killed, os.WEXITED | os.WNOWAIT)
        while not FolderStore(out).finished():
            time.sleep(0.05)

    def stop(self):
        Local.stop(self)


class Waiting(Patient):
    """The driver computes nothing before others have added something to a folder with many cells."""

    def start(self, out, order):
        Local.start(self, out, order)
        self.store = FolderStore(out)
        before = self.store.finished()
        while self.store.finished() == before:
            assert not (lost := self.lost()), lost
            time.sleep(0.05)
        self.status = read_status(out)


def test_two_workers_make_the_same_bytes_and_each_cell_once(tmp_path, asked, one):
    out, executor, reporter = tmp_path / "atlas", Patient(2, threads=1), tiny.Listener()
    atlas = make_map(asked, out, executor, reporter)
    assert_same(out, one)
    assert len(executor.cells) == 2
    computed = atlas.run.cells.computed
    assert computed == ha.Atlas(one).run.cells.computed == sum(executor.cells.values()), "each of them once"
    assert executor.cells[os.getpid()] < computed, "not all of them by the driver"
    assert not [sentence for sentence in reporter.said if "Worker" in sentence]
    assert executor.status.stages[0].done > 0 and len(executor.status.workers) == 2, "read while others write"


def test_a_worker_that_is_killed_is_said_and_the_others_make_the_same_bytes(tmp_path, asked, one):
    out, executor, reporter = tmp_path / "atlas", Unlucky(3, threads=1), tiny.Listener()
    make_map(asked, out, executor, reporter)
    assert_same(out, one)
    killed = "was killed, most likely because memory ran out. Going on with 2 workers."
    assert [sentence for sentence in reporter.said if "Worker" in sentence] == [
        f"Worker 2 (process {executor.killed}) {killed}"
    ]


def test_shards_share_a_folder_and_gather_makes_the_atlas(tmp_path, monkeypatch, asked, one, command):
    monkeypatch.setattr("headatlas.workflows.map.publish", lambda *_, **__: None)
    out, environment = tmp_path / "atlas", {**os.environ, "OMP_NUM_THREADS": "1"}
    options = ["--model", asked["model"], "--suite", asked["suite"], "--method", "attribute,ablate,gate", "--at-chance",
               "--set", "gate.steps=2", "--out", out]  # fmt: skip
    second = subprocess.Popen(
        [*COMMAND, "map", *map(str, options), "--shard", "2/2"], env=environment, stderr=subprocess.PIPE, text=True
    )
    first = command("map", *options, "--shard", "1/2", "-q")
    assert first.returncode == 0, first.stderr
    said = second.communicate()[1]
    assert second.returncode == 0, said
    assert f"Shard 2/2: all cells of the map are there. Put the atlas together with: headatlas gather {out}" in said
    assert not (out / "run.json").exists()
    before = command("status", out)
    assert before.returncode == 0 and "Nobody is working" in before.stdout and "headatlas gather" in before.stdout
    other = command("map", *options, "--shard", "1/2", "--limit", "15")
    assert other.returncode == 1 and "make another map: limit is None there and 15 here" in other.stderr
    gathered = command("gather", out, "--json")
    assert gathered.returncode == 0, gathered.stderr
    assert json.loads(gathered.stdout)["cells"]["computed"] == 0
    assert_same(out, one)


def test_a_worker_that_stops_says_why(tmp_path, asked):
    executor = Local(2, threads=1)
    write_order(tmp_path, make_order({**asked, "model": "./nowhere"}))
    executor.start(tmp_path, read_order(tmp_path))
    while not (said := executor.lost()):
        time.sleep(0.05)
    assert "stopped: './nowhere' is no folder, no GGUF file and no Hub id" in said[0]


@dataclass(frozen=True)
class Fragile(ha.Method):
    """Fails on the batch of one example as long as a file is there."""

    info = ha.MethodInfo(
        name="fragile", title="Fragile", summary="fails", meaning="Nothing.", kind="importance",
        measures=(ha.Measure(name="importance", meaning="nothing", unit="nats"),), primary="importance", turn=-1,
    )  # fmt: skip
    broken: str = ""

    def measure(self, context):
        def cell(task, batch):
            ids = [context.examples(task, "fit")[member].id for member in batch.members]

            def compute():
                if task == "Colours" and batch is context.batches(task, "fit")[0] and os.path.exists(self.broken):
                    raise RuntimeError(f"no luck with {ids[0]}")
                return {"effects": np.ones((len(ids), len(context.heads)))}

            return context.cell(CellKind("fragile"), compute, 1, batch=batch.key)

        cells = {task: [cell(task, batch) for batch in context.batches(task, "fit")] for task in context.tasks}
        effects = context.run_by_batch("Fragile", "fit", cells, "effects")
        return ha.Measured(
            [
                ha.effect_map(self.info, task, context.heads, effects[task], context.groups(task, "fit"))
                for task in context.tasks
            ]
        )


def test_a_cell_that_fails_is_named_with_its_examples_and_the_other_methods_go_on(tmp_path, command):
    out, broken = tmp_path / "atlas", tmp_path / "broken"
    broken.touch()
    asked = {"methods": [Fragile(str(broken)), "attribute"], "out": out, "at_chance": True, "report": False}
    with pytest.raises(HeadAtlasError) as failed:
        map_heads(tiny.model(), tiny.suite(), **asked, reporter=tiny.Listener())
    said = str(failed.value)
    assert "fragile: 1 of 2 cells of Fragile failed; the others are done. fragile of Colours (Colours-" in said
    assert "RuntimeError: no luck with Colours-" in said
    atlas = ha.Atlas(out)
    assert atlas.methods == ["attribute"] and atlas.run.pending == ["fragile"]
    status = json.loads(command("status", out, "--json").stdout)
    assert [(stage["name"], stage["failed"]) for stage in status["stages"] if stage["failed"]] == [("fragile", 1)]
    assert not status["finished"] and "no luck" in status["failures"][0]
    broken.unlink()
    again = map_heads(tiny.model(), tiny.suite(), **asked, reporter=tiny.Listener())
    assert again.methods == ["fragile", "attribute"] and again.run.cells.computed == 1
    assert not (out / "work").exists()
    assert json.loads(command("status", out, "--json").stdout)["finished"]


def test_a_worker_with_other_versions_is_refused(tmp_path, asked, command):
    write_order(tmp_path, make_order(asked))
    FolderStore(tmp_path).agree({"torch": "1.0"})
    done = command("work", tmp_path)
    assert done.returncode == 1
    assert "would compute other cells than the other workers of this map" in done.stderr
    assert "Use the same model, versions and kind of device everywhere." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "--workers", "0"], "--workers 0 was asked for; it must be at least 1."),
        (["map", "--shard", "3/2"], "--shard 3/2 was given; write K/N, such as 2/8 for the second of eight."),
        (
            ["map", "--shard", "1/2", "--workers", "2"],
            "--shard 1/2 is one process of this machine.",
        ),
        (["map", "--executor", "slum"], "Unknown executor 'slum'. Did you mean 'slurm'? Known: local, ray, slurm."),
        (["map", "--executor", "ray"], "Say with --workers how many the --executor ray shall start."),
        (["map", "--gpus", "2"], "--gpus was given, but the --executor local has no use for it."),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(tmp_path, monkeypatch, command, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = command(*arguments)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, []) and message in done.stderr


def test_a_folder_without_a_map_has_no_work(tmp_path, command):
    for name in ("work", "gather"):
        done = command(name, tmp_path)
        assert done.returncode == 1 and "no map is being made there" in done.stderr


def test_a_folder_of_somebody_else_is_not_taken_for_ours(tmp_path, command):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").touch()
    done = command("map", "--out", tmp_path)
    assert done.returncode == 2 and f"{tmp_path / 'work'} was not made by headatlas" in done.stderr
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["thesis.txt"]


def test_objects_of_this_process_cannot_be_shared(tmp_path):
    with pytest.raises(UsageError, match="given as an object of this process"):
        map_heads(tiny.model(), tiny.suite(), ["attribute"], out=tmp_path / "a", workers=2)
    assert not (tmp_path / "a").exists()


def test_an_order_gives_back_the_parameters(asked, tmp_path):
    given = {**asked, "settings": {"gate": {"tasks": ("Colours",)}}, "load_options": {"dtype": "bfloat16"}}
    order = make_order(given)
    assert Order.model_validate_json(order.model_dump_json()).parameters() == {
        **given, "model": str(asked["model"]), "suite": str(asked["suite"]),
    }  # fmt: skip


def test_gpus_are_divided_among_workers():
    assert device_groups(list("01234567"), 8) == [[device] for device in "01234567"]
    assert device_groups(list("01234567"), 3) == [["0", "1"], ["2", "3"], ["4", "5"]]
    assert device_groups([], 4) == device_groups(["0", "1"], 1) == []
    with pytest.raises(UsageError, match=r"`workers` 3 were asked for, and this machine has 2 GPUs"):
        device_groups(["0", "1"], 3)


def test_two_workers_test_a_map_and_give_the_same_bytes(tmp_path, one, monkeypatch):
    asked = {"tests": ["mask", "keep"], "ks": [2], "draws": 3, "limit": 4}
    monkeypatch.setattr("headatlas.workflows.verify.publish", lambda *_, **__: None)
    alone, shared = (shutil.copytree(one, tmp_path / name) for name in ("alone", "shared"))
    executor = Waiting(2, threads=1)
    for folder, chosen in ((alone, Local(threads=1)), (shared, executor)):
        monkeypatch.setattr("headatlas.workflows.verify.choose_executor", lambda *_, chosen=chosen: chosen)
        ha.verify(folder, **asked, reporter=tiny.Listener())
    assert (shared / "evidence.parquet").read_bytes() == (alone / "evidence.parquet").read_bytes()
    assert_same(shared, alone)
    assert len(executor.cells) == 2 and executor.cells[os.getpid()] < sum(executor.cells.values())
    assert {stage.name for stage in executor.status.stages} <= {"mask", "keep"} and executor.status.stages


class Lonely(Local):
    """Its workers never come."""

    def start(self, out, order):
        pass


def test_the_status_of_killed_tests_names_their_command(tmp_path, one, monkeypatch, command):
    monkeypatch.setattr("headatlas.workflows.verify.publish", lambda *_, **__: None)
    out = shutil.copytree(one, tmp_path / "atlas")
    options = [out, "--test", "mask", "-k", "2", "--limit", "4", "--draws", "3"]
    with monkeypatch.context() as patch:
        patch.setattr("headatlas.workflows.verify.choose_executor", lambda *_: Lonely(2, threads=1))
        patch.setattr(trial_module, "score_sets", dying(trial_module.score_sets, at=2)[0])
        with pytest.raises(Killed):
            command("verify", *options, "--workers", "2", "-q")
    asked = shlex.join(["headatlas", "verify", *map(str, options), "--workers", "2", "-q"])
    said = command("status", out).stdout
    assert f"Nobody is working on {out}. Nothing that was finished is lost; continue with: {asked}" in said
    status = json.loads(command("status", out, "--json").stdout)
    assert (status["finished"], status["testing"], status["command"]) == (False, True, asked)
    (stage,) = status["stages"]
    assert stage["name"] == "mask" and 0 < stage["done"] < stage["cells"]
    again = command("verify", *options, "-q")
    assert again.returncode == 0, again.stderr
    assert f"The atlas {out} is finished." in command("status", out).stdout, "one worker ends what several began"


def test_the_status_of_killed_tests_that_python_asked_for_names_the_function(tmp_path, one, command):
    out = shutil.copytree(one, tmp_path / "atlas")
    write_order(out, prepare_tests.TestOrder(tests=["mask"]))
    said = command("status", out)
    assert said.returncode == 0 and said.stdout.rstrip().endswith("continue with: headatlas.verify")


def test_workers_cannot_test_what_only_this_process_has(one):
    with pytest.raises(UsageError, match="2 were asked for, but the model or the suite was given as an object"):
        ha.verify(one, tiny.model(), workers=2)


def test_a_folder_with_the_name_of_the_model_or_the_suite_is_not_taken_for_it(tmp_path, monkeypatch):
    asked = {**dict.fromkeys(Order.model_fields), "preset": "quick", "chat": False, "at_chance": False}
    asked |= {"known_only": False, "report": True, "model": "smollm2", "suite": "cognitive"}
    monkeypatch.chdir(tmp_path)
    for name in ("smollm2", "cognitive", "mine"):
        (tmp_path / name).mkdir()
    order = make_order(asked)
    assert (order.model, order.suite) == ("smollm2", "cognitive")
    assert make_order({**asked, "model": "mine"}).model == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("here", "stated", "devices"), [(0, "-1", []), (0, "0", []), (4, "2,0,-1,1", ["2", "0"]), (2, None, ["0", "1"])]
)
def test_the_gpus_that_may_be_used(monkeypatch, here, stated, devices):
    monkeypatch.setattr("torch.cuda.device_count", lambda: here)
    if stated is None:
        monkeypatch.delenv(local_executor.VISIBLE, raising=False)
    else:
        monkeypatch.setenv(local_executor.VISIBLE, stated)
    assert visible_devices() == devices
