"""nnsight: a trace for each head, in which the input of the out-projection is edited."""

from __future__ import annotations

import torch
from nnsight import LanguageModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.peers.worker import Measure, Prepare, logprobs, one_by_one, serve


def load(folder: str, keep: int) -> Prepare:
    module = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().requires_grad_(False)
    model = LanguageModel(module, tokenizer=AutoTokenizer.from_pretrained(folder))
    size = module.config.head_dim

    @torch.inference_mode()
    def prepare(ids: torch.Tensor, answers: torch.Tensor, heads: list[tuple[int, int]]) -> Measure:
        with model.trace(ids, use_cache=False, logits_to_keep=keep):
            intact = model.lm_head.output[:, -1:].save()

        @torch.inference_mode()
        def without(layer: int, head: int) -> torch.Tensor:
            with model.trace(ids, use_cache=False, logits_to_keep=keep):
                model.model.layers[layer].self_attn.o_proj.input[..., head * size : (head + 1) * size] = 0
                logits = model.lm_head.output[:, -1:].save()
            return logprobs(logits, answers)

        return one_by_one(without, logprobs(intact, answers), heads)

    return prepare


if __name__ == "__main__":
    serve(load)
