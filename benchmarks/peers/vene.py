"""pyvene: an intervenable model for each head, with its intervention that zeroes activations."""

from __future__ import annotations

import pyvene
import torch
from transformers import AutoModelForCausalLM

from benchmarks.peers.worker import Measure, Prepare, logprobs, one_by_one, serve


def load(folder: str, keep: int) -> Prepare:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().requires_grad_(False)

    @torch.inference_mode()
    def prepare(ids: torch.Tensor, answers: torch.Tensor, heads: list[tuple[int, int]]) -> Measure:
        base = {"input_ids": ids, "use_cache": False, "logits_to_keep": keep}
        everywhere = [[*range(ids.shape[1])]] * len(ids)

        @torch.inference_mode()
        def without(layer: int, head: int) -> torch.Tensor:
            edited = pyvene.IntervenableModel(
                {
                    "layer": layer,
                    "component": "head_attention_value_output",
                    "unit": "h.pos",
                    "intervention_type": pyvene.ZeroIntervention,
                },
                model=model,
            )
            chosen = {"base": ([[[[head]] * len(ids), everywhere]])}
            _, out = edited(base=base, unit_locations=chosen)
            return logprobs(out.logits, answers)

        return one_by_one(without, logprobs(model(**base).logits, answers), heads)

    return prepare


if __name__ == "__main__":
    serve(load)
