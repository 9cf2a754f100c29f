"""headatlas: exact effects of heads, as `ablate` measures them with `exact=all` and `baseline=zero`."""

from __future__ import annotations

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from benchmarks.peers.worker import Measure, Prepare, serve
from benchmarks.texts import TASK, Texts
from headatlas.methods.effects import exact_effects, single_heads
from headatlas.model.heads import HeadModel
from headatlas.process import reuse_freed_memory


def load(folder: str, _: int) -> Prepare:
    """Logits are computed where they are scored anyway. Prompts come as tokens, so no tokenizer is loaded."""
    reuse_freed_memory()  # as the command line does, and as docs/performance.md asks callers of the library to do
    module = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().requires_grad_(False)
    model = HeadModel(module)
    model.sharing  # noqa: B018 - found out once for each model, with a few tokens
    measuring = Texts(model)

    def prepare(ids: torch.Tensor, answers: torch.Tensor, heads: list[tuple[int, int]]) -> Measure:
        texts = torch.cat([ids, answers[:, None]], 1).tolist()
        units = {TASK: single_heads(heads)}

        def measure() -> np.ndarray:
            return measuring.measure(texts, lambda quantities: exact_effects("Heads", quantities, units)).T

        return measure

    return prepare


if __name__ == "__main__":
    serve(load)
