"""An atlas with everything a figure can show, made up: numbers of the kind that a run gives, in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from headatlas.atlas import reading as files
from headatlas.atlas.reading import Atlas
from headatlas.evidence.trial import Evidence
from headatlas.run.competence import Competence
from headatlas.run.context import Diagnostic, HeadMap
from headatlas.stats import Summary, elbow
from headatlas.suites.chains.chain import HIGH, LOW

COGNITIVE = (
    "Knowledge Recall", "Retrieval", "Logical Reasoning", "Decision-making",
    "Semantic Understanding", "Syntactic Understanding", "Inference", "Math Calculation",
)  # fmt: skip
# What it has data for.
SHOWN = ("importance", "profiles", "elbow", "mask", "mask_accuracy", "keep", "specificity", "hierarchy", "steer")
HOSTILE = (
    "$x_{1}^$ costs $5", "snake_case_name_that_goes_on_and_on_without_any_space_at_all", "Größe — naïve ±∞ 語彙",
    "[bold]not markup[/bold]", "A very long name of a task, in words, that nobody would want to read to its end", "a",
)  # fmt: skip


def atlas(
    folder: Path,
    tasks: Sequence[str] = COGNITIVE,
    shape: tuple[int, int] = (30, 9),
    tests: Sequence[str] = ("mask", "keep", "specificity", "hierarchy", "steer"),
    methods: Sequence[str] = ("attribute", "probe"),
    tested: Sequence[str] = ("probe",),
    ks: Sequence[int] = (1, 2, 4, 8, 16, 32),
    draws: int = 50,
    neutral: bool = True,
    accuracy: bool = True,
) -> Atlas:
    """Write an atlas and open it. Of eight tasks the last but two is one that the model cannot do."""
    rng = np.random.default_rng(0)
    heads = tuple((layer, head) for layer in range(shape[0]) for head in range(shape[1]))
    maps = {(method, task): _map(rng, method, task, heads) for method in methods for task in tasks}
    files.write_run(folder, {
        "asked": {"command": None},
        "model": {"name": "made-up", "layers": shape[0], "heads": shape[1]},
        "groups": {method: dict.fromkeys(tasks, 20) for method in methods},
        "settings": {"preset": "standard"},
    })  # fmt: skip
    files.write_scores(folder, "made-up", maps.values())
    files.write_competence(folder, [_competence(i, task) for i, task in enumerate(tasks)])
    curves = _diagnostics(rng, {task: maps["probe", task] for task in tasks}) if "probe" in methods else []
    files.write_diagnostics(folder, "made-up", curves)
    rows: list[dict[str, Any]] = []
    for method in tested:
        makers = {
            "mask": lambda: mask(rng, tasks, ks, draws), "keep": lambda: keep(rng, tasks, len(heads)),
            "specificity": lambda: specificity(rng, tasks, neutral), "hierarchy": lambda: hierarchy(rng),
            "steer": lambda: steer(rng, tasks, neutral),
        }  # fmt: skip
        found = [row for test in tests for row in makers[test]() if accuracy or row.metric != "accuracy"]
        rows += [{"model": "made-up", "method": method, **asdict(row)} for row in found]
    if rows:
        files.write_evidence(folder, rows)
    return Atlas(folder)


def _map(rng: np.random.Generator, method: str, task: str, heads: tuple[tuple[int, int], ...]) -> HeadMap:
    values = 0.0006 * rng.standard_t(2, len(heads))
    error = np.full(len(heads), 0.0004)
    return HeadMap(
        method, "importance", task, 0, heads, Summary(values, error, 2 * stats.norm.sf(abs(values) / error), 20)
    )


def _competence(place: int, task: str) -> Competence:
    verdict = "not competent" if place == 5 else "competent"
    return Competence(task, 200, 0.81, 0.75, 0.86, 0.25, -1.4, 0.9, 0.5, 200, verdict)


def _diagnostics(rng: np.random.Generator, maps: dict[str, HeadMap]) -> list[Diagnostic]:
    found = [
        Diagnostic("probe", "accuracy", 0.79, low=0.74, high=0.83), Diagnostic("probe", "majority", 0.125),
        Diagnostic("probe", "shuffled accuracy", 0.13, low=0.08, high=0.19),
        Diagnostic("probe", "text naive Bayes", 0.68, low=0.62, high=0.73),
        Diagnostic("probe", "text tf-idf", 0.71, low=0.66, high=0.76),
        Diagnostic("probe", "gain over text", 0.08, low=0.03, high=0.13),
    ]  # fmt: skip
    for task, own in maps.items():
        curve = np.sort(np.abs(own.summary.mean))[::-1]
        null = np.sort(np.abs(0.0004 * rng.standard_normal((20, len(curve)))), axis=1)[:, ::-1]
        low, high = np.quantile(null, [0.025, 0.975], axis=0)
        found.append(Diagnostic("probe", "elbow", float(elbow(own.summary.mean)), task))
        found += [
            Diagnostic("probe", "curve", float(value), task, place=i + 1, low=float(low[i]), high=float(high[i]))
            for i, value in enumerate(curve)
        ]
    return found


def _rows(
    test: str, task: str, eval_task: str, control: str, change: float, error: float, level: float, **more: Any
) -> list[Evidence]:
    """Log-probability and accuracy of one intervention."""
    value, share = level + change, float(np.clip(0.8 + 0.12 * change, 0, 1))
    ends = np.clip([share - 0.07, share + 0.07], 0, 1).tolist()
    return [
        Evidence(test, task, eval_task, control, "logprob", value, level, value - error, value + error, **more),
        Evidence(test, task, eval_task, control, "accuracy", share, 0.8, *ends, **more),
    ]  # fmt: skip


def mask(rng: np.random.Generator, tasks: Sequence[str], ks: Sequence[int], draws: int) -> list[Evidence]:
    found = []
    for i, task in enumerate(tasks):
        level, force = -1.0 - 0.3 * i, rng.uniform(0.1, 0.9)
        for k in sorted({*ks, int(rng.integers(2, 40))}) if len(ks) > 1 else ks:
            top = -force * k**0.6
            found += _rows("mask", task, task, "top", top, 0.15 + 0.2 * abs(top), level, k=k)
            found += _rows("mask", task, task, "lowest", float(rng.normal(0, 0.02 * k**0.5)), 0.1, level, k=k)
            drawn = rng.normal(-0.05 * k**0.8, 0.12 * k**0.5, draws)
            for draw, value in enumerate(drawn):
                found += _rows("mask", task, task, "random", float(value), 0.2, level, k=k, draw=draw)
            p = (1 + (drawn <= top).sum()) / (1 + draws)
            found.append(Evidence("mask", task, task, "top", "p_value", float(p), k=k))
            beyond = top - float(drawn.mean())
            found.append(
                Evidence(
                    "mask", task, task, "top minus random", "logprob", beyond, 0.0, beyond - 0.3, beyond + 0.3, k=k
                )
            )
    return found


def keep(rng: np.random.Generator, tasks: Sequence[str], heads: int) -> list[Evidence]:
    sizes = [k for k in (4, 8, 16, 32, 64, 128) if k < heads]
    found = []
    for task in tasks:
        bend = rng.uniform(0.3, 0.8)
        found += _rows("keep", task, task, "none", -6.0, 0.5, -1.0, k=0)
        for k in sizes:
            f = (k / heads) ** (bend * 0.6)
            found += _rows("keep", task, task, "top", 5 * f - 5, 0.3, -1.0, k=k)
            found.append(Evidence("keep", task, task, "top", "fraction", f, 1.0, f - 0.09, f + 0.08, k))
            for draw in range(10):
                g = (k / heads) ** 1.2 + rng.normal(0, 0.06)
                found.append(Evidence("keep", task, task, "random", "fraction", g, 1.0, g - 0.1, g + 0.1, k, draw))
        for control, area in (("top", 0.4 + bend / 3), ("random", 0.45)):
            found.append(Evidence("keep", task, task, control, "cpr", area, None, area - 0.05, area + 0.05))
            found.append(Evidence("keep", task, task, control, "cmd", 1 - area, None, 0.95 - area, 1.05 - area))
    return found


def specificity(rng: np.random.Generator, tasks: Sequence[str], neutral: bool) -> list[Evidence]:
    found = []
    for task in tasks:
        for eval_task in [*tasks, *["Neutral"] * neutral]:
            change = float(-abs(rng.normal(0.4, 0.4)) - 1.6 * (task == eval_task))
            found += _rows("specificity", task, eval_task, "top", change, 0.3, -1.2, k=16)
        if len(tasks) > 1:
            own = float(rng.normal(-1.1, 0.6))
            row = (own, 0.0, own - 0.5, own + 0.45, 16)
            found.append(Evidence("specificity", task, task, "own minus others", "logprob", *row))
        if neutral:
            masked = 21.7 + float(abs(rng.normal(2, 2)))
            row = (masked, 21.7, masked - 1, masked + 1, 16)
            found.append(Evidence("specificity", task, "Neutral", "top", "perplexity", *row))
    return found


def hierarchy(rng: np.random.Generator) -> list[Evidence]:
    found = []
    for high in HIGH:
        for low in LOW:
            top = float(-abs(rng.normal(0.8, 0.6)))
            drawn = rng.normal(-0.3, 0.15, 10)
            found += _rows("hierarchy", low, high, "top", top, 0.3, -2.0, k=16)
            for draw, value in enumerate(drawn):
                found += _rows("hierarchy", low, high, "random", float(value), 0.2, -2.0, k=16, draw=draw)
            beyond = top - float(drawn.mean())
            for metric in ("logprob", "accuracy"):
                row = (metric, beyond, 0.0, beyond - 0.35, beyond + 0.35, 16)
                found.append(Evidence("hierarchy", low, high, "top minus random", *row))
    return found


def steer(rng: np.random.Generator, tasks: Sequence[str], neutral: bool) -> list[Evidence]:
    """The third task is not steered, as happens where the model gets nearly all items right."""
    found = []
    for i, task in enumerate(tasks):
        controls = [*["steer"] * (i != 2), "scale 0.5", "scale 1.5", "scale 2"]
        if i != 2:
            found.append(Evidence("steer", task, task, "steer", "alpha", float(rng.choice([1, 2, 5, 10])), k=16))
        for control in controls:
            gain = float(rng.normal(0.5, 0.3)) if control == "steer" else float(rng.normal(-0.1, 0.2))
            found += _rows("steer", task, task, control, gain, 0.25, -1.2, k=16)
            if neutral:
                found += _rows("steer", task, "Neutral", control, float(-abs(rng.normal(0.1, 0.1))), 0.08, -1.2, k=16)
    return found
