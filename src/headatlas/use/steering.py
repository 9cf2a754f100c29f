"""Steering as an object: push the heads of a task towards right answers around any generation.

The directions are those of the evidence test `steer`, made again from the model and the suite of the atlas, or read
from a file that `headatlas export --format safetensors` wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.records import Head
from headatlas.errors import UsageError
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.suites.suite import Suite
from headatlas.use.directions import chosen_strength, directions, measured_accuracies
from headatlas.use.formats.vectors import read_vectors
from headatlas.wording import count, decimal, interval, listed, signed
from headatlas.workflows.held_out import model_of


class Steering:
    """A context in which the heads of one task are pushed: z += strength * push where the next token is predicted.

    `push` is [layer, head, head_dim], one standard deviation long for each pushed head and zero for all others.
    """

    def __init__(self, model: HeadModel, task: str, strength: float, push: NDArray[np.float32], remarks: Sequence[str],
                 reporter: Reporter):  # fmt: skip
        self.model, self.task, self.strength, self.push = model, task, strength, push
        self.remarks = tuple(remarks)
        self._reporter, self._active = reporter, ExitStack()

    @property
    def heads(self) -> list[Head]:
        """The heads that are pushed."""
        return [(int(layer), int(head)) for layer, head in np.argwhere(np.abs(self.push).sum(-1) > 0)]

    def __enter__(self) -> HeadModel:
        for remark in self.remarks:
            self._reporter.say(remark)
        pushes = torch.from_numpy(np.float32(self.strength) * self.push)
        self._active.enter_context(self.model.add({layer: pushes[layer] for layer, _ in self.heads}, last=True))
        return self.model

    def __exit__(self, *_: Any) -> None:
        self._active.close()


def steering(
    atlas: Atlas,
    task: str | None = None,
    strength: float | None = None,
    *,
    model: HeadModel | str | Path | None = None,
    suite: Suite | None = None,
    vectors: str | Path | None = None,
    k: int | None = None,
    method: str | None = None,
    reporter: Reporter | None = None,
) -> Steering:
    """The steering of a task of an atlas; `strength` is in standard deviations of what a head writes.

    Without a strength it is the one that the test `steer` chose. Entering the context says what that test measured.
    """
    reporter = reporter or Reporter()
    task, method = atlas.choose_task(task), atlas.choose_method(method)
    chosen = chosen_strength(atlas, task, method)
    if strength is None and chosen is None:
        raise UsageError(
            f"Say how far to push with `strength`, or measure it first: headatlas verify {atlas.path} --test steer"
        )
    strength = float(chosen if strength is None else strength)  # type: ignore[arg-type]
    if not np.isfinite(strength):
        raise UsageError(f"`strength` {strength} was given; it must be a finite number.")
    loaded = model_of(atlas, model, {}, reporter)
    if vectors is None:
        push = directions(atlas, [task], loaded, suite, k, method, reporter)[task]
    else:
        push = read_vectors(Path(vectors), task, loaded)
    return Steering(loaded, task, strength, push, measured_effect(atlas, task, method, strength), reporter)


def measured_effect(atlas: Atlas, task: str, method: str, strength: float) -> list[str]:
    """What the test `steer` measured at this strength: accuracy, and against its controls; or that it did not."""
    rows = measured_accuracies(atlas, task, method)
    if rows.empty:
        return [f"The effect of steering {task} was not measured: headatlas verify {atlas.path} --test steer"]
    here = rows[np.isclose(rows["factor"], strength)]
    if here.empty:
        known = listed(f"{factor:g}" for factor in sorted(rows["factor"].unique()))
        return [f"The effect of steering {task} was measured at strength {known}, not at {strength:g}."]
    sentences = []
    for row in here[here["compared_with"].isna()].itertuples():
        sentences.append(
            f"{task}, strength {strength:g}: accuracy {decimal(row.intact)} intact, {decimal(row.value)} steered "
            f"({interval(row.low, row.high)}), {count(int(row.groups), 'group')} of held-out items."
        )
    for row in here[here["compared_with"].notna()].itertuples():
        bounds = interval(row.low, row.high, sign=True)
        sentences.append(f"Against {row.compared_with}: {signed(row.value)} ({bounds}).")
    return sentences
