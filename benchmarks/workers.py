"""What sharing costs: cells of a second with and without others, and two workers against one with two threads."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.clock import report, seconds
from headatlas.progress import Reporter
from headatlas.run.shared import Part
from headatlas.run.store import FolderStore
from headatlas.run.worker import Worker
from headatlas.suites.suite import to_jsonl
from headatlas.workflows.executors import Local
from headatlas.workflows.map import map_heads
from headatlas.workflows.order import WorkOrder
from tests import tiny
from tests.run import toy


class Timed(Local):
    """Counts tokens from the moment when the other worker has computed its first cell, as loading the model takes as
    long for one as for many; cells that are there by then do not count."""

    began = rate = 0.0

    def start(self, out: Path, order: WorkOrder) -> None:
        super().start(out, order)
        self.store = FolderStore(out)
        while self.workers > 1 and not self.store.finished():
            time.sleep(0.01)
        self.before, self.began = self.store.finished(), time.perf_counter()

    def stop(self) -> None:
        if self.began and not self.rate:
            spent = time.perf_counter() - self.began
            tokens = {key: tokens for step in self.store.steps() for key, tokens in step["cells"]}
            self.rate = sum(tokens[key] for key in tokens.keys() - self.before) / spent
        super().stop()


def run() -> None:
    _overhead()
    _throughput()


def _overhead(cell: float = 1.0) -> None:
    """Cells that sleep, so that a busy machine does not count: whatever is over is the executor."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        workers = [Worker(name=f"w{number}") for number in range(2)]
        runners = [toy.make_runner(out, worker, part=Part(i, 2)) for i, worker in enumerate(workers)]
        for runner in runners:
            runner.store.tell(runner.worker.record())
        pause = partial(time.sleep, cell)
        threads = [threading.Thread(target=toy.follow, args=(runner, pause)) for runner in runners]

        def both() -> None:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        ideal = toy.STEPS * toy.CELLS / 2 * cell
        over = 100 * (seconds(both) / ideal - 1)
        report("two workers on cells of one second: time over the ideal", over, "%", "below 3")


def _throughput(repeats: int = 3) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        model = _save_model(out / "model")
        (out / "tasks.jsonl").write_text(to_jsonl(tiny.suite(per_task=24).examples))
        asked: dict[str, Any] = {"preset": "quick", "at_chance": True, "report": False}
        rates: dict[int, list[float]] = {1: [], 2: []}
        for number in range(repeats):
            for workers, measured in rates.items():
                executor = Timed(workers, threads=2 // workers)
                map_heads(
                    model, out / "tasks.jsonl", ["ablate"], out=out / f"{number}-{workers}", executor=executor,
                    reporter=Reporter(quiet=True), **asked,
                )  # fmt: skip
                measured.append(executor.rate)
        one, two = (statistics.median(measured) for measured in rates.values())
        report("two workers, one thread each, against one with two: throughput", two / one, "times", "at least 0.9")


def _save_model(folder: Path) -> Path:
    """Random weights, wide enough that products of matrices take most of the time."""
    sizes = {"hidden_size": 384, "intermediate_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 6}
    torch.manual_seed(0)
    LlamaForCausalLM(LlamaConfig(vocab_size=tiny.VOCABULARY, **sizes)).save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return folder
