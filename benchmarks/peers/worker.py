"""What every peer has in common: it loads the model, waits for a request on standard input, and answers with its time.

Runs in the environment of the peer, so it imports nothing of headatlas.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

MARK = "PEER "  # answers begin with it: libraries print as well
# Effects [head, prompt] of removing each (layer, head): what the log-probability of the answer loses.
Measure = Callable[[], np.ndarray]
# From prompts [prompt, pos], answers [prompt] and heads to what is timed.
Prepare = Callable[[torch.Tensor, torch.Tensor, list[tuple[int, int]]], Measure]


def serve(load: Callable[[str, int], Prepare]) -> None:
    """Answer requests until there are no more. Arguments are the folder of the model, and at how many last positions
    logits are computed (at all with 0)."""
    prepare = load(sys.argv[1], int(sys.argv[2]))
    _answer({"peak": _peak()})
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        ids, answers = torch.tensor(request["prompts"]), torch.tensor(request["answers"])
        measure = prepare(ids, answers, [(layer, head) for layer, head in request["heads"]])
        wall, cpu = time.perf_counter(), time.process_time()
        effects = measure()
        spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        np.save(request["out"], effects)
        _answer({**spent, "peak": _peak()})


def one_by_one(
    scored: Callable[[int, int], torch.Tensor], intact: torch.Tensor, heads: list[tuple[int, int]]
) -> Measure:
    """One forward for each head; the one of the intact model is not timed."""
    return lambda: np.stack([(intact - scored(layer, head)).numpy() for layer, head in heads])


def logprobs(logits: torch.Tensor, answers: torch.Tensor) -> torch.Tensor:
    """Of the answers [prompt], from logits [prompt, pos, vocabulary] at the last position."""
    return logits[:, -1].float().log_softmax(-1).gather(-1, answers[:, None])[:, 0].double()


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _answer(content: dict[str, Any]) -> None:
    print(MARK + json.dumps(content), flush=True)
