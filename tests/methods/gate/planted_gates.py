"""Small models whose heads are known by construction, and tasks that ask for one word each."""

from pathlib import Path

import torch

from headatlas.model.heads import HeadModel
from headatlas.run.context import RunContext
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context

HELPER, SABOTEUR = (2, 0), (1, 3)


def writers(**heads: tuple[tuple[int, int], float]) -> HeadModel:
    """A model without any living head but those named: `red=((2, 0), 1.0)` writes the direction of " red" times 1."""
    model = tiny.model("llama")
    with torch.no_grad():
        for layer in range(model.n_layers):
            model.out_weight(layer).zero_()
            # The value of every token is the same vector, so every head has the same z everywhere.
            values = model.layers[layer].self_attn.v_proj
            values.weight.zero_()
            values.bias = torch.nn.Parameter(torch.ones(values.out_features), requires_grad=False)
        for word, ((layer, head), size) in heads.items():
            token = tiny.tokenizer()(f" {word.rstrip('_')}")["input_ids"][0]
            direction = model.module.get_output_embeddings().weight[token].detach()
            model.out_weight(layer)[head] += size * torch.outer(torch.ones(model.head_dim), direction) / model.head_dim
    return model


def helper_and_saboteur() -> HeadModel:
    """One head writes the answer " red", one writes against it, all others are dead."""
    return writers(red=(HELPER, 5.0), red_=(SABOTEUR, -3.0))


def suite(tasks: dict[str, str], per_task: int = 48) -> Suite:
    """Tasks whose answer is always the same word."""
    examples = [
        Example(
            id=f"{task}-{i}", task=task, group=f"{task}/{i // 2}", answer=f" {word}",
            prompt=f"{'the key is in the box and ' * (i % 2)}item {i} is",
        )
        for task, word in tasks.items()
        for i in range(per_task)
    ]  # fmt: skip
    return Suite("planted", tuple(examples))


def planted_context(folder: Path, model: HeadModel | None = None, tasks: dict[str, str] | None = None) -> RunContext:
    return run_context(folder, model or helper_and_saboteur(), suite(tasks or {"Red": "red"}))
