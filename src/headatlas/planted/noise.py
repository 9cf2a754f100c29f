"""Noise for the heads that nobody planted: as long as what the others write, felt in every example, and of no use."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from headatlas.model.heads import HeadModel
from headatlas.planted.canvas import HEAD_DIM, Canvas, Head
from headatlas.planted.words import ANSWERS, prompt_ids
from headatlas.suites.example import Example


def fill(
    canvas: Canvas,
    examples: Sequence[Example],
    dead: tuple[Head, ...] = (),
    loud: tuple[Head, ...] = (),
    size: float = 1.0,
    leak: float = 0.3,
    loudness: float = 3.0,
) -> None:
    """Write noise into every head that is not planted, and into every MLP.

    A noise head looks at tokens by random preferences, and what it writes is about as long as what a planted head
    writes (`size`). Most of it goes where nobody reads, and `leak` of it into what the model says: up in one example,
    down in another, and nothing on the average of `examples`. Dead heads write nothing, loud ones are `loudness` times
    as long. Query heads that share keys and values with a planted head have queries of their own.
    """
    heads = [(layer, head) for layer in range(canvas.layers) for head in range(canvas.heads)]
    noise = [head for head in heads if head not in canvas.planted]
    _read_at_random(canvas, noise, size)
    useful = _useful(canvas, examples)
    for layer, head in noise:
        length = 0.0 if (layer, head) in dead else size * (loudness if (layer, head) in loud else 1.0)
        junk = canvas.normal(HEAD_DIM, len(canvas.space["junk"])) / len(canvas.space["junk"]) ** 0.5
        said = canvas.normal(HEAD_DIM, len(ANSWERS)) / len(ANSWERS) ** 0.5
        said = without(said, useful[:, layer, head]) * leak / (loudness if (layer, head) in loud else 1.0)
        written = junk @ canvas.space["junk"] + said @ canvas.space["out"]
        canvas.write((layer, head)).copy_(length * written.T)


def without(said: Tensor, useful: Tensor) -> Tensor:
    """What a head says [head_dim, answer], less its part along the directions `useful` [direction, head_dim, answer].

    A random head helps or hurts a task a little by accident, and always in the same way. That would be an effect, and
    not noise.
    """
    directions = torch.linalg.qr(useful.flatten(1).T.double()).Q
    along = directions.T @ said.flatten().double()
    return said - (directions @ along).view_as(said).float()


def _read_at_random(canvas: Canvas, noise: Sequence[Head], size: float) -> None:
    """Queries, keys and values of noise heads, and MLPs that write where nobody reads."""
    read = torch.cat([canvas.space[name] for name in canvas.readable])
    written = {canvas.key(head).data_ptr() for head in canvas.planted}
    for head in noise:
        canvas.query(head).copy_(canvas.normal(HEAD_DIM, len(read)) @ read)
        if canvas.key(head).data_ptr() not in written:
            written.add(canvas.key(head).data_ptr())
            canvas.key(head).copy_(canvas.normal(HEAD_DIM, len(read)) @ read)
            canvas.value(head).copy_(canvas.normal(HEAD_DIM, len(read)) @ read / HEAD_DIM**0.5)
    for readers, writer in canvas.mlps():
        for reader in readers:
            reader.copy_(canvas.normal(len(reader), len(read)) @ read / 4)
        junk = canvas.normal(writer.shape[1], len(canvas.space["junk"])) / len(canvas.space["junk"]) ** 0.5
        writer.copy_((junk @ canvas.space["junk"]).T * size / writer.shape[1] ** 0.5)


@torch.inference_mode()
def _useful(canvas: Canvas, examples: Sequence[Example]) -> Tensor:
    """The directions in which a head would help every task on average [direction, layer, head, head_dim, answer]: by
    what it reads in the prompt, and by what it would read in the twin."""
    model, directions = HeadModel(canvas.module), []
    for task in dict.fromkeys(example.task for example in examples):
        pairs = [(example, example.counterfactual) for example in examples if example.task == task]
        margin = torch.zeros(len(pairs), len(ANSWERS))
        for row, (example, twin) in zip(margin, pairs, strict=True):
            assert twin is not None  # all planted tasks have twins
            row[ANSWERS.index(example.answer.strip())] = 1
            row[ANSWERS.index(twin.answer.strip())] = -1
        for prompts in ([example.prompt for example, _ in pairs], [twin.prompt for _, twin in pairs if twin]):
            ids, last = prompt_ids(prompts)
            with model.capture() as z:
                model.logits(ids)
            read = [z[layer][torch.arange(len(ids)), last] for layer in range(canvas.layers)]
            directions.append(torch.stack([torch.einsum("ehd,ea->hda", part, margin) for part in read]))
    return torch.stack(directions)
