"""How fast this machine runs a model: timed with the model itself, or from how fast it multiplies matrices."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from headatlas.errors import UsageError
from headatlas.model.heads import HeadModel
from headatlas.model.sizes import Sizes
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.context import RunContext

ENOUGH = 0.7  # seconds that a timing takes, or one forward
# Of the speed of products of matrices, by forwards of SmolLM2-135M in float32: 0.87 where each core multiplies alone,
# as cells of small models run, and 0.61 to 0.71 where all cores share each product.
REACHED = 0.75
LARGEST = 2048  # rows and columns of the matrices that are multiplied


@dataclass(frozen=True)
class Speed:
    """Tokens per second, where the number comes from, and by which factor it may be wrong either way."""

    tokens_per_second: float
    source: str
    factor: float


def given_speed(tokens_per_second: float) -> Speed:
    if not tokens_per_second > 0:
        raise UsageError(f"`tokens_per_second` {tokens_per_second:g} was given; it must be above 0.")
    return Speed(tokens_per_second, "as given", 1.5)


def time_model(context: RunContext) -> Speed:
    """From forwards of a batch of the run, or of as many of its rows as take less than a second; one in each lane."""
    ids = max((batch.ids for batch in context.batches(context.tasks[0], "fit")), key=lambda ids: ids.numel())
    crew, model = context.runner.crew, context.model

    def seconds(rows: int) -> float:
        began = time.perf_counter()
        crew.share([ids[:rows]] * crew.lanes, lambda part: _run(model, part), of=crew.lanes)
        return time.perf_counter() - began

    rows, spent = 1, seconds(1)
    if spent < ENOUGH:  # else the first forward, which is slower than others, has to do
        rows = max(1, min(len(ids), int(2 * ENOUGH / seconds(1))))
        spent = seconds(rows)
    if spent < ENOUGH / 3:
        spent = sorted([spent, *(seconds(rows) for _ in range(2))])[1]
    tokens = crew.lanes * rows * ids.shape[1]
    return Speed(tokens / spent, f"timed with the model, {tokens} tokens at once", 1.5)


@torch.inference_mode()
def _run(model: HeadModel, ids: torch.Tensor) -> None:
    first = torch.tensor([0])
    with model.only_logits(first, first):
        model.logits(ids).cpu()


def time_matrices(sizes: Sizes, length: float, dtype: torch.dtype, device: torch.device, lanes: int = 1) -> Speed:
    """From products of a batch with matrices of the model's width, of whose speed a forward reaches a part. Where cells
    run side by side, products are timed with the threads of one of them: small ones hardly gain from more."""
    width, threads = min(sizes.width, LARGEST), torch.get_num_threads()
    x = torch.ones(BATCH_TOKENS, width, dtype=dtype, device=device)
    weight = torch.ones(width, width, dtype=dtype, device=device)
    torch.set_num_threads(max(1, threads // lanes))
    try:
        (x @ weight).sum().item()
        done, began = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - began) < ENOUGH:
            (x @ weight)[0, 0].item()  # waits for the device
            done += 1
    finally:
        torch.set_num_threads(threads)
    speed = lanes * done * 2 * BATCH_TOKENS * width * width / elapsed
    name = str(dtype).removeprefix("torch.")
    source = f"from {speed / 1e9:,.0f} GFLOP/s in {name} products of matrices on this {device.type}"
    return Speed(REACHED * speed / sizes.flops(length), source, 2.0)
