"""Memory that `headatlas plan` says against memory that is taken, by stage of a map, for random Llama-shaped models.

Each model has a process of its own. Of every stage of a map the cell with a backward and the one without that should
take most are run, for at most so much processor time: what decides the peak comes first. What a stage takes is the
highest resident memory of the process while it runs, less what was resident before, when the model was loaded and the
map was planned: Python, its libraries and the suite, which the plan does not count. Large tensors are given back to the
system when they are freed (MALLOC_MMAP_THRESHOLD_), so that it is what is needed and not what the allocator hoards.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from headatlas.methods.base import Method
from headatlas.model import bundled
from headatlas.model.heads import HeadModel
from headatlas.model.memory import held_bytes
from headatlas.model.sizes import Sizes, sizes
from headatlas.progress import Reporter
from headatlas.run.cells import Cell, Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.interventions import gate_gradient
from headatlas.run.selection import split_examples
from headatlas.run.work import NotingRunner, Step
from headatlas.workflows.plan import stage_steps
from headatlas.workflows.request import check_request

MODELS: dict[str, dict[str, Any]] = {
    "28 x 24 heads, 384 wide": {"layers": 28, "heads": 24, "width": 384, "inside": 1024, "dtype": "float32"},
    "32 x 32 heads, 512 wide": {"layers": 32, "heads": 32, "width": 512, "inside": 1408, "dtype": "float32"},
    "16 x 32 heads, 2,048 wide": {"layers": 16, "heads": 32, "width": 2048, "inside": 8192, "dtype": "float32"},
}
KV_HEADS = 8
TASKS = ["Retrieval", "Math Calculation"]
SECONDS = 60.0  # of the processor for a cell, or one forward and backward of a large model
WHOLE = ("probe",)  # what it fits depends on what its cells have measured, so all of it is run


def run() -> None:
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    print("| model | stage | planned | taken | planned / taken |\n|---|---|---|---|---|")
    for name in MODELS:
        command = [sys.executable, "-m", "benchmarks.memory", name]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        print(as_markdown(name, json.loads(done.stdout.splitlines()[-1])), flush=True)


def as_markdown(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """One row per stage, and the peak with the weights."""
    weights = rows[0]["weights"]
    peak = {column: weights + max(row[column] for row in rows) for column in ("planned", "taken")}
    lines = [
        f"| {name} | {row['stage']} | {_mb(row['planned'])} | {_mb(row['taken'])} | "
        f"{row['planned'] / row['taken']:.2f} |"
        for row in (*rows, {"stage": f"peak, with {_mb(weights)} of weights", **peak})
    ]
    return "\n".join(lines)


def _mb(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def measure(name: str) -> list[dict[str, Any]]:
    """What every stage of a map of one model was planned to take and took, in bytes."""
    model = build(**MODELS[name])
    request = check_request("cognitive", None, "quick", tasks=TASKS)
    splits = split_examples(request.suite, request.limits, 0)
    context = RunContext(model, splits, NotingRunner(), Encoder(model))
    stages, size = stage_steps(context, request.methods), sizes(model)
    batch = context.batches(TASKS[0], "fit")[0]
    gate_gradient(model, batch, None)  # the first backward loads libraries
    methods = {method.info.name: method for method in request.methods}
    rows = []
    for stage, steps in stages:
        assert steps is not None
        planned = max(step.beside + max((held_bytes(size, load) for load in step.loads), default=0) for step in steps)
        taken = _taken(context, methods.get(stage), steps, size)
        rows.append({"stage": stage, "weights": size.weights, "planned": planned, "taken": taken})
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def build(layers: int, heads: int, width: int, inside: int, dtype: str) -> HeadModel:
    """A random model with the tokenizer of the bundled one."""
    tokenizer = AutoTokenizer.from_pretrained(bundled.fetch(Reporter(quiet=True)))
    torch.manual_seed(0)
    torch.set_default_dtype(getattr(torch, dtype))  # else there would be weights of two dtypes for a moment
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=width, intermediate_size=inside, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=KV_HEADS, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    module = LlamaForCausalLM(config).eval().requires_grad_(False)
    torch.set_default_dtype(torch.float32)
    return HeadModel(module, tokenizer, name="random")


def _taken(context: RunContext, method: Method | None, steps: Sequence[Step], size: Sizes) -> int:
    """Bytes above what was resident before, at the peak."""
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the highest resident memory is now that of this moment
    if method is not None and method.info.name in WHOLE:
        with tempfile.TemporaryDirectory() as cells:
            method.measure(context.with_runner(Runner(Path(cells), Reporter(quiet=True))))
    else:
        for backward in (True, False):
            for cell in _largest(steps, size, backward):
                with suppress(TimeoutError), stopped_after(SECONDS):
                    cell.compute()
    return resident("VmHWM") - before


def _largest(steps: Sequence[Step], size: Sizes, backward: bool) -> list[Cell]:
    """The cell with the largest load, with or without a backward; where loads are not those of cells, the one of the
    step that runs most tokens."""
    found: list[tuple[int, Cell]] = []
    for step in steps:
        sizes_of_loads = [held_bytes(size, load) if load.backward == backward else 0 for load in step.loads]
        if not any(sizes_of_loads):
            continue
        if len(step.loads) == len(step.cells):
            found.append(max(zip(sizes_of_loads, step.cells, strict=True), key=lambda pair: pair[0]))
        else:
            found.append((max(sizes_of_loads), max(step.cells, key=lambda cell: cell.tokens)))
    return [max(found, key=lambda pair: pair[0])[1]] if found else []


def resident(which: str) -> int:
    """Bytes of resident memory of this process: now ("VmRSS") or at the highest ("VmHWM")."""
    found = re.search(rf"{which}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
