"""What a probe is fitted on: features and tasks of every split, and other labellings of them as controls."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headatlas.methods.probe.features import collect
from headatlas.methods.probe.reading import Reading
from headatlas.run.context import RunContext
from headatlas.suites.suite import SPLITS

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Labelling:
    """Tasks (as numbers) given to the `fit` and `choose` examples, and which `fit` examples are used at all."""

    fit: Labels
    choose: Labels
    used: NDArray[np.bool_]


@dataclass(frozen=True)
class ProbeData:
    """Per split: features [example, head, head_dim], the number of each example's task, and its group."""

    tasks: tuple[str, ...]
    features: Mapping[str, Tensor]
    labels: Mapping[str, Labels]
    groups: Mapping[str, NDArray[np.str_]]

    @classmethod
    def collect(cls, context: RunContext, reading: Reading) -> ProbeData:
        features = {}
        for split in SPLITS:
            by_task = collect(context, split, reading)
            joined = np.concatenate([by_task[task] for task in context.tasks])
            features[split] = torch.from_numpy(joined).view(len(joined), len(context.heads), context.model.head_dim)
        return cls.of(context, features)

    @classmethod
    def of(cls, context: RunContext, features: Mapping[str, Tensor]) -> ProbeData:
        """With the labels and groups of the context's examples."""
        tasks, labels, groups = tuple(context.tasks), {}, {}
        for split in SPLITS:
            groups[split] = np.array([group for task in tasks for group in context.groups(task, split)])
            labels[split] = np.repeat(np.arange(len(tasks)), [len(context.examples(task, split)) for task in tasks])
        return cls(tasks, features, labels, groups)

    @cached_property
    def key(self) -> str:
        """A hash of everything in it."""
        digest = hashlib.sha256("\n".join(self.tasks).encode())
        for split in SPLITS:
            digest.update(self.features[split].numpy().tobytes() + self.labels[split].tobytes())
            digest.update("\n".join(self.groups[split]).encode())
        return digest.hexdigest()[:16]

    def real(self) -> Labelling:
        return Labelling(self.labels["fit"], self.labels["choose"], np.ones(len(self.labels["fit"]), dtype=bool))

    def shuffled(self, seed: int) -> Labelling:
        """The same labels dealt to other groups: what a probe finds in features that know nothing of the task."""
        rng = np.random.default_rng([seed, 0])
        fit, choose = (_dealt(self.labels[split], self.groups[split], rng) for split in ("fit", "choose"))
        return Labelling(fit, choose, np.ones(len(fit), dtype=bool))

    def halves(self, seed: int) -> tuple[Labelling, Labelling]:
        """The `fit` examples of one half of the groups, and of the other."""
        names = np.unique(self.groups["fit"])
        chosen = np.random.default_rng([seed, 1]).permutation(names)[: len(names) // 2]
        first = np.isin(self.groups["fit"], chosen)
        return tuple(Labelling(self.labels["fit"], self.labels["choose"], used) for used in (first, ~first))  # type: ignore[return-value]


def _dealt(labels: Labels, groups: NDArray[np.str_], rng: np.random.Generator) -> Labels:
    """The labels in runs of whole groups, the runs in another order than the groups they are given to.

    Examples of a group mostly share a label; dealt singly, labels would be far more mixed than they are.
    """
    members = [np.flatnonzero(groups == name) for name in np.unique(groups)]
    given = np.concatenate([members[i] for i in rng.permutation(len(members))])
    taken = np.concatenate([members[i] for i in rng.permutation(len(members))])
    dealt = np.empty_like(labels)
    dealt[given] = labels[taken]
    return dealt
