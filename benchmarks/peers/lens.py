"""TransformerLens: `run_with_hooks` of its bridge, a hook on z."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from transformer_lens.model_bridge import TransformerBridge
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.peers.worker import Measure, Prepare, logprobs, one_by_one, serve


def load(folder: str, keep: int) -> Prepare:
    # Read here, because the bridge looks names up at the model hub. It wants the eager kernel.
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    bridge = TransformerBridge.boot_transformers(folder, hf_model=model.eval(), tokenizer=tokenizer, device="cpu")
    bridge.requires_grad_(False)
    size = model.config.head_dim

    def remove(z: torch.Tensor, hook: Any, head: int) -> torch.Tensor:
        if z.dim() == 4:  # [batch, pos, head, head_dim], or the heads side by side
            z[:, :, head] = 0
        else:
            z[..., head * size : (head + 1) * size] = 0
        return z

    @torch.inference_mode()
    def prepare(ids: torch.Tensor, answers: torch.Tensor, heads: list[tuple[int, int]]) -> Measure:
        @torch.inference_mode()
        def scored(hooks: list[Any]) -> torch.Tensor:
            return logprobs(bridge.run_with_hooks(ids, fwd_hooks=hooks, logits_to_keep=keep), answers)

        def without(layer: int, head: int) -> torch.Tensor:
            return scored([(f"blocks.{layer}.attn.hook_z", partial(remove, head=head))])

        return one_by_one(without, scored([]), heads)

    return prepare


if __name__ == "__main__":
    serve(load)
