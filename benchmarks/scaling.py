"""What effects of heads cost against examples, layers, heads and length, on random models of the Llama family.

One of the four is doubled and doubled again, the others stay as they are. The slope is that of log seconds over log
size: 1 is linear. Exact effects of all heads are expected to be linear in examples, heads and length, and quadratic in
layers: there are as many more heads, and their forwards are as much longer. Attribution is linear in layers and does
not depend on the number of heads.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.clock import processor_seconds
from benchmarks.texts import TASK, Measured, Texts
from headatlas.methods.effects import attributed_both_ways, exact_effects, single_heads
from headatlas.model.heads import HeadModel
from tests import tiny

USUAL = {"examples": 16, "layers": 6, "heads": 8, "length": 32}
SIZES = {
    "examples": (8, 16, 32, 64),
    "layers": (3, 6, 12, 24),
    "heads": (2, 4, 8, 16),
    "length": (16, 32, 64, 128),
}
WIDTH, REPEATS = 128, 2
KINDS = ("exact effects", "attribution")


def run() -> None:
    seconds: dict[tuple[str, str, int], list[float]] = {}
    jobs = [(name, size, prepare(**{**USUAL, name: size})) for name, sizes in SIZES.items() for size in sizes]
    for _ in range(REPEATS):  # in turns
        for name, size, measures in jobs:
            for kind in KINDS:
                seconds.setdefault((kind, name, size), []).append(measures[kind]())
    print(as_markdown({key: median(times) for key, times in seconds.items()}))


def prepare(examples: int, layers: int, heads: int, length: int) -> dict[str, Callable[[], float]]:
    """By kind, a function that measures all heads of a new model and gives the processor seconds."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=tiny.VOCABULARY, hidden_size=WIDTH, intermediate_size=3 * WIDTH, num_hidden_layers=layers,
        num_attention_heads=heads, max_position_embeddings=256, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = HeadModel(LlamaForCausalLM(config).eval().requires_grad_(False), tiny.tokenizer(), name="random")
    model.sharing  # noqa: B018 - found out once for each model
    measuring = Texts(model)
    texts = torch.randint(tiny.VOCABULARY, (examples, length + 1)).tolist()
    units = {TASK: single_heads(measuring.context.heads)}

    kinds = (lambda q: exact_effects("Heads", q, units), lambda q: attributed_both_ways("Heads", q, {})[0])

    def timed(measured: Measured) -> Callable[[], float]:
        return lambda: processor_seconds(lambda: measuring.measure(texts, measured))

    return {kind: timed(measured) for kind, measured in zip(KINDS, kinds, strict=True)}


def slope(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def as_markdown(seconds: dict[tuple[str, str, int], float]) -> str:
    """One row per kind and axis, from seconds by (kind, axis, size)."""
    lines = ["| | against | sizes | seconds | slope |", "|---|---|---|---|---|"]
    for kind in KINDS:
        for name, sizes in SIZES.items():
            spent = [seconds[kind, name, size] for size in sizes]
            listed = ", ".join(f"{second:.2f}" for second in spent)
            sizes_listed = ", ".join(map(str, sizes))
            lines.append(f"| {kind} | {name} | {sizes_listed} | {listed} | {slope(sizes, spent):.2f} |")
    return "\n".join(lines) + "\n"
