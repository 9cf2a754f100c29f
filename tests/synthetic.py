"""Atlas folders with known maps, written by the same functions as real ones."""

from dataclasses import dataclass, field

import numpy as np

from headatlas.atlas.reading import Atlas, write_competence, write_diagnostics, write_evidence, write_run, write_scores
from headatlas.atlas.verdicts import AT_CHANCE, COMPETENT
from headatlas.run.competence import Competence
from headatlas.run.context import HeadMap
from headatlas.stats import Summary, summarise


@dataclass
class Known:
    """A map by its values [layer, head] and errors; NaN values are left out of the atlas."""

    value: np.ndarray
    stderr: np.ndarray | None = None
    p: np.ndarray | None = None
    groups: int = 1000
    method: str = "attribute"
    measure: str = "importance"
    seed: int = 0
    task: str = field(default="Task")


def measured(
    effect: np.ndarray, noise: np.ndarray | float, rng: np.random.Generator, groups: int = 24, **more
) -> Known:
    """A map as it is measured: effects, and noise averaged over groups of examples, with its estimated error."""
    examples = effect.ravel() + np.sqrt(groups) * np.broadcast_to(noise, effect.shape).ravel() * rng.standard_normal(
        (groups, effect.size)
    )
    return from_examples(examples, effect.shape, **more)


def from_examples(examples: np.ndarray, shape: tuple[int, int], **more) -> Known:
    """A map from effects of single examples [example, layer * head], each its own group."""
    found = summarise(examples, [str(i) for i in range(len(examples))])
    parts = (found.mean.reshape(shape), found.stderr.reshape(shape), found.p_value.reshape(shape))
    return Known(*parts, groups=len(examples), **more)


def write_atlas(path, maps, kv_heads=None, competence=None, evidence=None, diagnostics=None) -> Atlas:
    """An atlas of these maps. Tasks are competent unless `competence` has entries for them."""
    path.mkdir(parents=True, exist_ok=True)
    layers, heads = maps[0].value.shape
    groups: dict[str, dict[str, int]] = {}
    for known in maps:
        groups.setdefault(known.method, {})[known.task] = known.groups
    tasks = list(dict.fromkeys(known.task for known in maps))
    entries = competence or [competent(task) for task in tasks]
    model = {"name": "made", "fingerprint": "0" * 16, "type": "llama", "layers": layers, "heads": heads}
    model |= {"kv_heads": kv_heads or heads, "head_dim": 8, "dtype": "float32", "device": "cpu"}
    run = {
        "asked": {"command": "headatlas map"},
        "model": model,
        "suite": {"name": "made", "fingerprint": "1" * 16, "tasks": tasks, "examples": {"fit": 48, "choose": 16}},
        "settings": {"preset": "quick", "methods": {name: {"baseline": "mean"} for name in groups}},
        "seeds": {"split": 0},
        "versions": {"headatlas": "0.1.0"},
        "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:01:00+00:00",
        "cells": {"computed": 1, "reused": 0},
        "groups": groups,
        "seconds": 60.0,
    }
    write_run(path, run)
    write_scores(path, "made", [_head_map(known) for known in maps])
    write_competence(path, entries)
    if diagnostics is not None:
        write_diagnostics(path, "made", diagnostics)
    if evidence is not None:
        write_evidence(path, evidence)
    return Atlas(path)


def competent(task: str, able: bool = True) -> Competence:
    numbers = {"accuracy": 0.8, "low": 0.7, "high": 0.9} if able else {"accuracy": 0.3, "low": 0.2, "high": 0.4}
    verdict = COMPETENT if able else AT_CHANCE
    rest = {"chance": 0.25, "logprob": -2.0, "margin": 1.0, "exact": 0.5, "kept": 96 if able else 0}
    return Competence(task=task, items=96, verdict=verdict, **numbers, **rest)


def _head_map(known: Known) -> HeadMap:
    places = [(int(layer), int(head)) for layer, head in np.argwhere(np.isfinite(known.value))]
    missing = np.full_like(known.value, np.nan)
    columns = [known.value, *(missing if part is None else part for part in (known.stderr, known.p))]
    value, stderr, p = (np.array([column[place] for place in places]) for column in columns)
    return HeadMap(
        known.method, known.measure, known.task, known.seed, tuple(places), Summary(value, stderr, p, known.groups)
    )
