"""How much of the machine's matrix throughput the forward pass reaches, on batches of 512 tokens and more."""

from __future__ import annotations

import torch

from benchmarks.clock import interleaved, report
from headatlas.model.heads import HeadModel


def run(model: HeadModel) -> None:
    """The yardstick is a matmul of the model's own shapes: tokens x d_model by the width of its feed-forward layer."""
    weights = sum(p.numel() for name, p in model.module.named_parameters() if ".layers." in name)
    wide = torch.randn(4 * model.d_model, model.d_model)
    last = torch.tensor([0])
    for rows in (24, 64):
        ids = torch.randint(5, 1000, (rows, 24))
        tokens = ids.numel()
        hidden = torch.randn(tokens, model.d_model)

        def forward(ids: torch.Tensor = ids) -> None:
            with torch.inference_mode(), model.only_logits(last, last):
                model.logits(ids)

        def matmul(hidden: torch.Tensor = hidden) -> None:
            for _ in range(40):
                torch.nn.functional.linear(hidden, wide)

        ours, peak = interleaved([forward, matmul])
        reached = (2 * weights * tokens / ours) / (40 * 2 * hidden.numel() * wide.shape[0] / peak)
        report(f"forward, {tokens} tokens: share of matmul throughput", 100 * reached, "%", "at least 70")
        report(f"forward, {tokens} tokens", tokens / ours, "tokens/s", "")
