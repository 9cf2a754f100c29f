"""Atlases made of random numbers with structure: any shape, any tasks, with diagnostics and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headatlas.atlas.reading import COMPETENCE, DIAGNOSTICS, SCORES, Atlas, write_evidence, write_run
from headatlas.stats import q_values

TASKS = (
    "Knowledge Recall", "Retrieval", "Logical Reasoning", "Decision-making",
    "Semantic Understanding", "Syntactic Understanding", "Inference", "Math Calculation",
)  # fmt: skip
METHODS: dict[str, tuple[str, ...]] = {
    "probe": ("importance", "alone"),
    "attribute": ("importance",),
    "ablate": ("importance",),
    "gate": ("facilitation", "interference", "irrelevance", "gate_plus", "gate_minus"),
}
GROUPS = 24
NULL = "heads in random order"


@dataclass(frozen=True)
class Finding:
    """What a map shows, as the statistics of maps report it."""

    kind: str
    tasks: tuple[str, ...]
    method: str
    statement: str
    value: float
    effect: float
    null: str
    p: float
    p_adjusted: float
    supported: bool
    heads: tuple[tuple[int, int], ...] = field(default=())


def findings() -> list[Finding]:
    """Three that are supported and two that are not."""
    return [
        Finding("depth", ("Math Calculation",), "attribute", "Math Calculation lies later than the other tasks: centre "
                "of mass at layer 20.1 against 13.4.", 20.1, 6.7, NULL, 0.0005, 0.004, True),
        Finding("sparsity", ("Retrieval",), "attribute", "Half of the mass of Retrieval is held by 21 of 270 heads.",
                21, 0.62, NULL, 0.001, 0.006, True),
        Finding("shared", TASKS[:3], "ablate", "L12H3 is among the strongest ten heads of 3 tasks.", 3, 2.1, NULL,
                0.002, 0.01, True, ((12, 3),)),
        Finding("diagonal", ("Inference",), "attribute", "A diagonal band in Inference.", 0.08, 0.1, NULL, 0.31, 0.62,
                False),
        Finding("clustering", ("Retrieval",), "probe", "Neighbouring heads of Retrieval are alike.", 0.04, 0.05, NULL,
                0.2, 0.5, False),
    ]  # fmt: skip


def write_atlas(
    folder: Path,
    layers: int = 30,
    heads: int = 9,
    kv_heads: int | None = None,
    tasks: Sequence[str] = TASKS,
    methods: Mapping[str, Sequence[str]] = METHODS,
    seeds: int = 3,
    name: str = "synthetic",
    seed: int = 0,
    evidence: bool = True,
    unmapped: Sequence[str] = ("Logical Reasoning",),
    audit: bool = True,
) -> Atlas:
    """Write an atlas: hot spots by task at a depth of its own, noise elsewhere; ablation of a fifth of the heads."""
    rng = np.random.default_rng(seed)
    mapped = [task for task in tasks if task not in unmapped]
    truth = {
        task: _truth(rng, layers, heads, 0.25 + 0.5 * i / max(1, len(mapped) - 1)) for i, task in enumerate(mapped)
    }
    run: dict[str, Any] = {
        "asked": {"model": name, "load": {}, "suite": "cognitive", "level": None, "tasks": None,
                  "command": "headatlas map --preset standard"},
        "model": {"fingerprint": f"{seed:016x}", "name": name, "type": "llama", "layers": layers, "heads": heads,
                  "kv_heads": kv_heads or max(1, heads // 3), "head_dim": 64, "dtype": "float32", "device": "cpu"},
        "suite": {"name": "cognitive", "fingerprint": "0b15bc4e3a1cfb4c", "tasks": list(tasks),
                  "examples": {"fit": 384, "choose": 128, "evaluate": 256}},
        "settings": {"preset": "standard", "limits": {"fit": 48, "choose": 16, "evaluate": 32}, "chat": False,
                     "methods": {method: {"seeds": seeds} for method in methods}},
        "seeds": {"split": 0},
        "versions": {"headatlas": "0.1.0", "torch": "2.13.0", "python": "3.11.7"},
        "started": "2026-11-15T23:42:24+00:00",
        "finished": "2026-11-15T23:46:03+00:00",
        "cells": {"computed": 106, "reused": 0},
        "groups": {method: dict.fromkeys(mapped, GROUPS) for method in methods},
        "seconds": 218.9,
    }  # fmt: skip
    if audit:
        run["audit"] = [
            {"name": "prompt length", "task": "all", "value": 0.12, "limit": 0.2, "verdict": "good", "note": ""},
            *({"name": check, "task": tasks[0], "value": 0.41, "limit": 0.35, "verdict": "warning",
               "note": "The options alone give the answer away more often than chance."}
              for check in ("answer from options", "answer from lengths")),
        ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    write_run(folder, run)
    pq.write_table(_scores(rng, truth, methods, seeds, name), folder / "scores.parquet")
    pq.write_table(pa.Table.from_pylist(_competence(rng, tasks, unmapped), COMPETENCE), folder / "competence.parquet")
    rows = _diagnostics(rng, truth, seeds, name) if "probe" in methods else []
    pq.write_table(pa.Table.from_pylist(rows, DIAGNOSTICS), folder / "diagnostics.parquet")
    if evidence:
        write_evidence(
            folder, _evidence(rng, mapped, name, [m for m in methods if m in ("probe", "attribute", "gate")])
        )
    return Atlas(folder)


Random = np.random.Generator
Rows = list[dict[str, Any]]


def _truth(rng: Random, layers: int, heads: int, depth: float) -> np.ndarray:
    """Signed strength of each head [layer, head]: heavy-tailed, around one depth, a few common to all tasks."""
    places = np.exp(-(((np.arange(layers) / layers - depth) / 0.22) ** 2))[:, None]
    strength = rng.gamma(0.35, 0.02, (layers, heads)) * (0.15 + places)
    strength[layers // 2, heads // 3] += 0.06
    return strength * np.where(rng.random((layers, heads)) < 0.2, -1, 1)


def _scores(
    rng: Random,
    truth: Mapping[str, np.ndarray],
    methods: Mapping[str, Sequence[str]],
    seeds: int,
    name: str,
) -> pa.Table:
    tables = []
    for method, measures in methods.items():
        chosen = None
        for task, strength in truth.items():
            layers, heads = strength.shape
            layer, head = (axis.ravel() for axis in np.indices((layers, heads)))
            if method == "ablate":
                chosen = chosen if chosen is not None else rng.permutation(layer.size)[: max(4, layer.size // 5)]
            pick = np.arange(layer.size) if method != "ablate" else np.sort(chosen)
            for seed in range(1 if method in ("attribute", "ablate") else seeds):
                helps = 1 / (1 + np.exp(-(strength.ravel() * 120 - 2.5 + rng.normal(0, 1.2, layer.size))))
                hurts = 1 / (1 + np.exp(-(-strength.ravel() * 160 - 3 + rng.normal(0, 1.2, layer.size))))
                for measure in measures:
                    stderr = np.full(layer.size, np.nan)
                    if measure in ("importance", "alone"):
                        stderr = 0.003 + 0.2 * np.abs(strength.ravel())
                        value = strength.ravel() + rng.normal(0, 1, layer.size) * stderr * 0.7
                    else:
                        value = {"facilitation": helps, "interference": hurts, "gate_minus": helps,
                                 "gate_plus": 1 - hurts}.get(measure, (1 - hurts) * (1 - helps))  # fmt: skip
                    p = np.clip(np.exp(-0.9 * (value / stderr) ** 2), 1e-9, 1)
                    tables.append(
                        pa.table(
                            {
                                "model": [name] * pick.size, "method": [method] * pick.size,
                                "measure": [measure] * pick.size, "task": [task] * pick.size,
                                "seed": np.full(pick.size, seed), "layer": layer[pick], "head": head[pick],
                                "value": value[pick], "stderr": stderr[pick], "p_value": p[pick],
                                "q_value": q_values(p[pick]),
                            },
                            schema=SCORES,
                        )
                    )  # fmt: skip
    return pa.concat_tables(tables)


def _competence(rng: Random, tasks: Sequence[str], unmapped: Sequence[str]) -> Rows:
    rows = []
    for task in tasks:
        good = task not in unmapped
        accuracy = float(rng.uniform(0.5, 0.9)) if good else 0.27
        rows.append(
            {"task": task, "items": 96, "accuracy": accuracy, "low": accuracy - 0.09, "high": accuracy + 0.08,
             "chance": 0.25, "logprob": -4.2, "margin": 1.4, "exact": accuracy / 2, "kept": 96 if good else 0,
             "verdict": "competent" if good else "not competent"}
        )  # fmt: skip
    return rows


def _diagnostics(rng: Random, truth: Mapping[str, np.ndarray], seeds: int, name: str) -> Rows:
    rows: list[dict[str, Any]] = []

    def add(metric: str, value: float, **more: Any) -> None:
        rows.append({"model": name, "method": "probe", "metric": metric, "seed": 0, "value": float(value)} | more)

    for metric, value in {"accuracy": 0.79, "text naive Bayes": 0.67, "text tf-idf": 0.69, "gain over text": 0.1,
                          "shuffled accuracy": 0.13}.items():  # fmt: skip
        add(metric, value, low=value - 0.05, high=value + 0.05)
    for task, strength in truth.items():
        for metric in ("recall", "half overlap", "half correlation", "seed overlap"):
            add(metric, rng.uniform(0.6, 0.95), task=task)
        ordered = np.sort(np.abs(strength).ravel())[::-1]
        add("elbow", len(ordered) // 12, task=task)
        for rank, value in enumerate(ordered, start=1):
            null = 0.02 * np.exp(-rank / (len(ordered) / 4))
            add("curve", value, task=task, place=rank, low=null * 0.8, high=null * 1.2)
    size = next(iter(truth.values())).size
    for look in ("previous", "after_same"):
        for place, value in enumerate(rng.uniform(0.2, 0.5, size)):
            add(look, value, method="attention", place=place)
    return rows


def _evidence(rng: Random, tasks: Sequence[str], name: str, methods: Sequence[str]) -> Rows:
    rows: list[dict[str, Any]] = []

    def add(method: str, test: str, task: str, other: str | None, control: str, metric: str, value: float,
            baseline: float, spread: float, k: int | None = None, draw: int | None = None) -> None:  # fmt: skip
        rows.append(
            {"model": name, "method": method, "test": test, "task": task, "eval_task": other, "control": control,
             "k": k, "draw": draw, "metric": metric, "value": float(value), "baseline": float(baseline),
             "low": float(value - spread), "high": float(value + spread)}
        )  # fmt: skip

    for method in methods:
        for task in tasks:
            fall = rng.uniform(0.02, 0.05)
            for k in (1, 2, 4, 8, 16, 32):
                for metric, intact, size in (("accuracy", 0.78, 0.5), ("logprob", -1.6, 2.5)):
                    hit = size * (1 - np.exp(-fall * 2 * k))
                    add(method, "mask", task, task, "top", metric, intact - hit, intact, 0.05 * size, k)
                    add(method, "mask", task, task, "lowest", metric, intact - hit * 0.05, intact, 0.03 * size, k)
                    for draw in range(20):
                        value = intact - hit * rng.uniform(0.05, 0.4)
                        add(method, "mask", task, task, "random", metric, value, intact, 0.05 * size, k, draw)
                add(method, "mask", task, task, "top", "p_value", 0.048 if k > 2 else 0.3, np.nan, np.nan, k)
                kept = 1 - np.exp(-0.09 * k)
                add(method, "keep", task, task, "top", "fraction", kept, 1, 0.05, k)
                for draw in range(10):
                    value = kept * rng.uniform(0.1, 0.5)
                    add(method, "keep", task, task, "random", "fraction", value, 1, 0.05, k, draw)
            add(method, "keep", task, task, "top", "cpr", rng.uniform(0.5, 0.9), 1, np.nan)
            for other in [*tasks, "Neutral"]:
                drop = (rng.uniform(0.25, 0.5) if other == task else rng.uniform(0.0, 0.16)) * (
                    other != "Neutral" or 0.2
                )
                add(method, "specificity", task, other, "top", "logprob", -1.6 - 4 * drop, -1.6, 0.1, 10)
                add(method, "specificity", task, other, "top", "accuracy", 0.78 - drop, 0.78, 0.04, 10)
            add(method, "specificity", task, task, "own minus others", "logprob", rng.uniform(-1.5, 0), 0, 0.7, 10)
        for low in tasks[:3]:
            for high in tasks[3:]:
                drop = rng.uniform(0, 0.3)
                add(method, "hierarchy", low, high, "top", "accuracy", 0.6 - drop, 0.6, 0.05, 10)
                add(method, "hierarchy", low, high, "random", "accuracy", 0.6 - drop * 0.2, 0.6, 0.05, 10, 0)
                add(method, "hierarchy", low, high, "top minus random", "accuracy", -0.8 * drop, 0, 0.1, 10)
    for task in tasks[:4]:
        for control, gain in (("steer", 0.06), ("scale 0.5", -0.12), ("scale 1.5", -0.05)):
            add(methods[0], "steer", task, task, control, "accuracy", 0.7 + gain, 0.7, 0.04, 10)
    if "gate" in methods:
        for task in tasks:
            for control, slope in (("facilitation", 0.12), ("irrelevance", 0.003), ("interference", -0.01)):
                for k in (0, 8, 16, 32, 64):
                    add("gate", "order", task, task, control, "logprob", -1.6 - slope * k, -1.6, 0.2, k)
    return rows
