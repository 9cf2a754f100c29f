"""Noise for the heads that nobody planted: as loud as the others, and of no use on average."""

from __future__ import annotations

import torch
from torch import Tensor

from headatlas.planted.canvas import HEAD_DIM, Canvas, Head
from headatlas.planted.words import ANSWERS, ids


def fill(
    canvas: Canvas,
    dead: tuple[Head, ...] = (),
    loud: tuple[Head, ...] = (),
    size: float = 1.0,
    leak: float = 0.3,
    loudness: float = 3.0,
) -> None:
    """Write noise into every head and every MLP that is not planted.

    A noise head looks at tokens by random preferences, and what it writes is about as long as what a planted head
    writes (`size`): nearly all of it goes where nobody reads, and `leak` of it into what the model says. Dead heads
    write nothing, loud ones are `loudness` times as long. Query heads that share keys and values with a planted
    head look at what it looks at, with queries of their own.
    """
    read = torch.cat([canvas.space[name] for name in canvas.readable])
    every = [(layer, head) for layer in range(canvas.layers) for head in range(canvas.heads)]
    noise = [head for head in every if head not in canvas.planted]
    shared = {canvas.key(head).data_ptr() for head in canvas.planted}
    for head in noise:
        canvas.query(head).copy_(canvas.normal(HEAD_DIM, len(read)) @ read)
        if canvas.key(head).data_ptr() not in shared:
            shared.add(canvas.key(head).data_ptr())
            canvas.key(head).copy_(canvas.normal(HEAD_DIM, len(read)) @ read)
            canvas.value(head).copy_(canvas.normal(HEAD_DIM, len(read)) @ read / HEAD_DIM**0.5)
    for head in noise:
        length = 0.0 if head in dead else size * (loudness if head in loud else 1.0)
        junk = canvas.normal(HEAD_DIM, len(canvas.space["junk"])) / len(canvas.space["junk"]) ** 0.5
        said = canvas.normal(HEAD_DIM, len(ANSWERS)) / len(ANSWERS) ** 0.5
        said = without_copying(said, canvas.tokens(ANSWERS) @ canvas.value(head).T)
        said *= leak / (loudness if head in loud else 1.0)
        canvas.write(head).copy_(length * (junk @ canvas.space["junk"] + said @ canvas.space["out"]).T)
    for readers, writer in canvas.mlps():
        for reader in readers:
            reader.copy_(canvas.normal(len(reader), len(read)) @ read / 4)
        junk = canvas.normal(writer.shape[1], len(canvas.space["junk"])) / len(canvas.space["junk"]) ** 0.5
        writer.copy_((junk @ canvas.space["junk"]).T * size / writer.shape[1] ** 0.5)


def without_copying(said: Tensor, values: Tensor) -> Tensor:
    """What a head says [head_dim, answer], without its tendency to say the words it looks at or to avoid them.

    `values` [answer, head_dim] is what the head reads of each word. Without that a random head copies by accident, a
    little and always in the same direction: an effect, and not noise.
    """
    centred = values - values.mean(0)
    copying = (said.T * centred).sum()
    return said - copying / centred.square().sum() * centred.T
