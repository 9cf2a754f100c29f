"""The plain loop: a hook of one's own on the out-projection, one forward for each head."""

from __future__ import annotations

import torch
from transformers import AutoModelForCausalLM

from benchmarks.peers.worker import Measure, Prepare, logprobs, one_by_one, serve


def load(folder: str, keep: int) -> Prepare:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().requires_grad_(False)
    size = model.config.head_dim

    @torch.inference_mode()
    def prepare(ids: torch.Tensor, answers: torch.Tensor, heads: list[tuple[int, int]]) -> Measure:
        def scored() -> torch.Tensor:
            return logprobs(model(input_ids=ids, use_cache=False, logits_to_keep=keep).logits, answers)

        @torch.inference_mode()
        def without(layer: int, head: int) -> torch.Tensor:
            def remove(_: object, args: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
                z = args[0].clone()
                z[..., head * size : (head + 1) * size] = 0
                return (z,)

            handle = model.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(remove)
            try:
                return scored()
            finally:
                handle.remove()

        return one_by_one(without, scored(), heads)

    return prepare


if __name__ == "__main__":
    serve(load)
