"""`python -m benchmarks peers`: every library removes the same heads on the same prompts, in turns within one run.

Two sets of prompts: some that share nothing, and the same after a common beginning of worked examples. Each repeat is a
pair of layers whose mean is the middle of the model, so that forwards that start late save what they save on a whole
map. The others take as long for each head, so they remove one head of each layer; headatlas removes all of a layer
together. The intact forward is not timed for the others. headatlas records it: what that takes is timed with a single
head of the last layer, and counts once for all heads of the model.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import headatlas
from benchmarks.peers.environments import CONSTRAINTS, FOLDER, LIBRARIES, OURS, PEERS, Peer, pinned, python_of
from benchmarks.peers.report import Timing, as_markdown, summarise
from benchmarks.peers.worker import MARK
from headatlas.model import bundled
from headatlas.model.heads import HeadModel
from headatlas.run.encoding import Encoder
from headatlas.suites.cognitive import cognitive

PROMPTS, LENGTH, BEGINNING = 16, 24, 48
REPEATS, EVERY = 4, 9
Prompts = tuple[list[list[int]], list[int]]  # tokens of the prompts, and their answers


class Worker:
    """A process that has the model loaded in the environment of one library."""

    def __init__(self, peer: Peer) -> None:
        source = str(Path(headatlas.__file__).parents[1])
        threads = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
        # Only headatlas' own environment may see its sources; no library may ask the model hub.
        paths = {"PYTHONPATH": "" if peer.requirement else source, "HF_HUB_OFFLINE": "1"}
        self.log = (FOLDER / f"{peer.name}.log").open("w+")
        self.process = subprocess.Popen(
            [python_of(peer).absolute(), "-m", peer.module, str(bundled.folder()), str(peer.logits)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env={**os.environ, **threads, **paths, **dict(peer.allocator)},
        )  # fmt: skip
        self._answer()

    def ask(self, prompts: Prompts, heads: list[tuple[int, int]]) -> tuple[dict[str, float], np.ndarray]:
        """Seconds and peak memory, and effects [head, prompt]."""
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/effects.npy"
            request = {"prompts": prompts[0], "answers": prompts[1], "heads": heads, "out": out}
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return self._answer(), np.load(out)

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(MARK):
                answer: dict[str, Any] = json.loads(line.removeprefix(MARK))
                return answer
        self.log.seek(0)
        raise OSError((self.log.read().strip().splitlines() or ["it ended without a word"])[-1])

    def close(self) -> None:
        self.process.communicate()
        self.log.close()


def run(model: HeadModel) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    tasks, n_layers, n_heads = prompt_sets(model), *model.shape
    del model  # every worker loads its own
    workers, missing = _start()
    timings: dict[str, list[Timing]] = defaultdict(list)
    for repeat in range(REPEATS):
        low = (2 * repeat + 1) * n_layers // (4 * REPEATS)
        layers = (low, n_layers - 1 - low)
        every = [(layer, head) for layer in layers for head in range(n_heads)]
        for task, prompts in tasks.items():
            effects = {}
            for name in _turn([*workers], repeat):
                heads = every if name == OURS.name else every[::EVERY]
                try:
                    spent, found = workers[name].ask(prompts, heads)
                    if name == OURS.name:
                        recording, _ = workers[name].ask(prompts, [(n_layers - 1, 0)])
                        for clock in ("cpu", "wall"):
                            spent[clock] -= recording[clock] * (1 - len(heads) / (n_layers * n_heads))
                except OSError as error:
                    missing[name] = str(error)
                    del workers[name]
                    continue
                effects[name] = found if name != OURS.name else found[::EVERY]
                timings[task].append(Timing(name, repeat, len(heads), spent["cpu"], spent["wall"], spent["peak"]))
                print(f"{task}, layers {layers}, {name}: {spent['cpu'] / len(heads):.2f} s per head", flush=True)
            for timing in timings[task][-len(effects) :]:
                timing.difference = float(np.abs(effects[timing.name] - effects[OURS.name]).max())
        _write(timings, missing)  # a run that is stopped has the repeats before
    for worker in workers.values():
        worker.close()


def _write(timings: dict[str, list[Timing]], missing: dict[str, str]) -> None:
    summary = summarise(timings, OURS.name, [OURS.name, *(peer.name for peer in PEERS)], missing)
    summary["measured"] = {
        "libraries": [peer.requirement for peer in LIBRARIES if peer.requirement],
        "shared": pinned(CONSTRAINTS.read_text()),
        "processor": processor_name(),
        "repeats": REPEATS,
    }
    (FOLDER / "report.json").write_text(json.dumps(summary, indent=1))
    (FOLDER / "report.md").write_text(as_markdown(summary))
    print(as_markdown(summary), flush=True)


def processor_name() -> str:
    """What Linux calls the processor; elsewhere what Python knows of it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, {len(names)} cores" if names else platform.processor()


def prompt_sets(model: HeadModel) -> dict[str, Prompts]:
    """Prompts cut from texts of the suite so that no two begin with the same token, alone and after a beginning."""
    encoder = Encoder(model)
    chosen: dict[int, tuple[int, ...]] = {}
    spare: list[int] = []
    for example in cognitive(40).examples[::7]:
        tokens = encoder.encode(example)[0].tokens
        if len(tokens) > LENGTH and tokens[-LENGTH - 1] not in chosen and len(chosen) < PROMPTS:
            chosen[tokens[-LENGTH - 1]] = tokens[-LENGTH - 1 :]
        else:
            spare += tokens
    beginning = spare[:BEGINNING]
    prompts, answers = [[*text[:-1]] for text in chosen.values()], [text[-1] for text in chosen.values()]
    assert len(prompts) == PROMPTS
    return {
        f"{PROMPTS} prompts of {LENGTH} tokens that share nothing": (prompts, answers),
        f"{PROMPTS} prompts of {BEGINNING + LENGTH} tokens that share {BEGINNING}": (
            [beginning + prompt for prompt in prompts],
            answers,
        ),
    }


def _start() -> tuple[dict[str, Worker], dict[str, str]]:
    """Those that could be installed and can load the model; of the others, why not."""
    workers, missing = {}, {}
    for peer in (OURS, *PEERS):
        try:
            workers[peer.name] = Worker(peer)
        except OSError as error:
            missing[peer.name] = str(error)
    return workers, missing


def _turn(names: list[str], by: int) -> list[str]:
    """Another one begins in every repeat."""
    return names[by % len(names) :] + names[: by % len(names)]
