"""Ablation of every head against the plain loop: one hooked forward for each head, last-position logits only."""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.clock import report, seconds
from headatlas.methods.effects import single_heads
from headatlas.model.heads import HeadModel
from headatlas.run.ablation import ablate_each
from headatlas.run.batches import make_batches
from headatlas.run.encoding import Encoder
from headatlas.suites.cognitive import cognitive

PROMPTS = 16


@torch.inference_mode()
def plain_loop(model: HeadModel, ids: torch.Tensor, targets: torch.Tensor) -> np.ndarray:
    """What a user would write by hand, with a hook of their own."""

    def last_logprobs() -> torch.Tensor:
        logits = model.module(input_ids=ids, use_cache=False, logits_to_keep=1).logits[:, -1]
        return logits.log_softmax(-1).gather(-1, targets[:, None])[:, 0].double()

    intact = last_logprobs()
    columns = []
    for layer in range(model.n_layers):
        for head in range(model.n_heads):
            span = slice(head * model.head_dim, (head + 1) * model.head_dim)

            def remove(_: object, args: tuple[torch.Tensor], span: slice = span) -> tuple[torch.Tensor]:
                z = args[0].clone()
                z[..., span] = 0
                return (z,)

            handle = model.out_projections[layer].register_forward_pre_hook(remove)
            columns.append(intact - last_logprobs())
            handle.remove()
    return torch.stack(columns, 1).numpy()


def run(model: HeadModel) -> None:
    """Prompts of one length with one-token answers, so that the plain loop needs no padding either."""
    encoder = Encoder(model)
    options = [encoder.encode(example)[0] for example in cognitive(120).examples]
    single = [option for option in options if len(option.tokens) - option.start == 1]
    length = max({len(o.tokens) for o in single}, key=lambda n: sum(len(o.tokens) == n for o in single))
    chosen = [option for option in single if len(option.tokens) == length][:PROMPTS]
    (batch,) = make_batches([[option] for option in chosen], tokens=PROMPTS * length)
    targets = torch.tensor([option.tokens[-1] for option in chosen])
    heads = [(layer, head) for layer in range(model.n_layers) for head in range(model.n_heads)]
    results: dict[str, np.ndarray] = {}
    times = {"plain": 0.0, "ours": 0.0}
    for _ in range(2):  # in turns
        times["plain"] += seconds(lambda: results.update(plain=plain_loop(model, batch.ids, targets)))
        times["ours"] += seconds(lambda: results.update(ours=ablate_each(model, batch, single_heads(heads), None)))
    what = f"{len(chosen)} prompts x {length - 1} tokens, {len(heads)} heads"
    report(f"ablate, {what}: times faster than the plain loop", times["plain"] / times["ours"], "x", "at least 2")
    report("ablate: seconds", times["ours"] / 2, "s", "")
    difference = float(np.abs(results["ours"] - results["plain"]).max())
    report("ablate: largest difference to the plain loop, in millionths", 1e6 * difference, "1e-6", "below 100")
