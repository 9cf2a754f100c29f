"""Atlases of random numbers with structure: any shape, any tasks, with everything that a view can show."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.declarations import MethodInfo, TestInfo
from headatlas.atlas.records import Competence, Evidence
from headatlas.atlas.run_record import AuditRecord, Quantity
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
from headatlas.patterns import Finding
from tests.atlases.known import Known, competent, write_atlas
from tests.atlases.rich_diagnostics import attention_diagnostics, gate_diagnostics, probe_diagnostics
from tests.atlases.rich_evidence import Amount, evidence_rows

COGNITIVE = (
    "Knowledge Recall", "Retrieval", "Logical Reasoning", "Decision-making",
    "Semantic Understanding", "Syntactic Understanding", "Inference", "Math Calculation",
)  # fmt: skip
HOSTILE = (
    "$x_{1}^$ costs $5", "snake_case_name_that_goes_on_and_on_without_any_space_at_all", "Größe — naïve ±∞ 語彙",
    "[bold]not markup[/bold]", "A very long name of a task, in words, that nobody would want to read to its end", "a",
)  # fmt: skip
METHOD_NAMES = ("probe", "attribute", "ablate", "gate", "attention")
TEST_NAMES = ("mask", "keep", "specificity", "hierarchy", "steer", "order")
GROUPS = 24
TWINS = Quantity(metric="margin", baseline="twin")
NULL = "heads in random order"


def rich_atlas(
    folder: Path,
    tasks: Sequence[str] = COGNITIVE,
    shape: tuple[int, int] = (30, 9),
    *,
    kv_heads: int | None = None,
    methods: Sequence[str | MethodInfo] = METHOD_NAMES,
    tests: Sequence[str | TestInfo] = TEST_NAMES,
    tested: Sequence[str] = ("probe", "attribute", "gate"),
    unmapped: Sequence[str] = ("Logical Reasoning",),
    at_chance: Sequence[str] = (),
    seeds: int = 3,
    ablated: float = 0.2,
    ks: Sequence[int] = (1, 2, 4, 8, 16, 32),
    draws: int = 20,
    neutral: bool = True,
    accuracy: bool = True,
    audit: bool = True,
    name: str = "made-up",
    seed: int = 0,
) -> Atlas:
    """Write an atlas and open it: every task has its strong heads around one depth, and noise elsewhere.

    Ablation has measured the part `ablated` of the heads; probe and gate have `seeds` seeds, gate no errors. `unmapped`
    tasks are at chance and have no maps, those `at_chance` are mapped all the same. Each of the `tested` methods that
    the atlas has gets all `tests` that apply to it. A method or a test may be a declaration of its own: a method gives
    importance like attribution, a test has the rows of the registered test of its shape.
    """
    rng = np.random.default_rng(seed)
    mapped = [task for task in tasks if task not in unmapped]
    truth = {task: _truth(rng, shape, 0.25 + 0.5 * i / max(1, len(mapped) - 1)) for i, task in enumerate(mapped)}
    method_infos = [METHODS[method].info if isinstance(method, str) else method for method in methods]
    test_infos = [TESTS[test].info if isinstance(test, str) else test for test in tests]
    names = [info.name for info in method_infos]
    diagnostics = probe_diagnostics(rng, truth) if "probe" in names else []
    diagnostics += gate_diagnostics(rng, mapped, seeds, shape) if "gate" in names else []
    diagnostics += attention_diagnostics(rng, shape) if "attention" in names else []
    amount = Amount(tuple(ks), draws, neutral, shape[0] * shape[1])
    evidence = {info.name: _evidence(rng, info, test_infos, mapped, amount, accuracy) for info in method_infos
                if info.name in tested}  # fmt: skip
    return write_atlas(
        folder,
        [
            known
            for info in method_infos
            if info.kind != "description"
            for known in _maps(rng, info, truth, seeds, ablated)
        ],
        kv_heads or max(1, shape[1] // 3),
        [_competence(rng, task, task not in (*unmapped, *at_chance), task in mapped) for task in tasks],
        evidence if any(evidence.values()) else None,
        diagnostics,
        methods=method_infos,
        tests=test_infos,
        audit=_audit(tasks[0]) if audit else (),
        quantities={name: dict.fromkeys(mapped, TWINS) for name in names if name in ("attribute", "ablate")},
        name=name,
        fingerprint=f"{seed:016x}",
    )


def made_up_findings() -> list[Finding]:
    """Three that are supported and two that are not."""

    def finding(kind, tasks, method, statement, value, effect, p, p_adjusted, supported, heads=()):
        return Finding(
            kind, tasks, method, "information", statement, value, effect, NULL, p, p_adjusted, supported, heads
        )

    return [
        finding("depth", ("Math Calculation",), "attribute", "Math Calculation lies later than the other tasks: centre "
                "of mass at layer 20.1 against 13.4.", 20.1, 6.7, 0.0005, 0.004, True),
        finding("sparsity", ("Retrieval",), "attribute", "Half of the mass of Retrieval is held by 21 of 270 heads.",
                21, 0.62, 0.001, 0.006, True),
        finding("shared", COGNITIVE[:3], "ablate", "L12H3 is among the first ten heads of 3 tasks.", 3, 2.1, 0.002,
                0.01, True, ((12, 3),)),
        finding("neighbours", ("Inference",), "attribute", "Neighbouring heads of Inference are alike.", 0.08, 0.1,
                0.31, 0.62, False),
        finding("neighbours", ("Retrieval",), "probe", "Neighbouring heads of Retrieval are alike.", 0.04, 0.05, 0.2,
                0.5, False),
    ]  # fmt: skip


def _truth(rng: np.random.Generator, shape: tuple[int, int], depth: float) -> np.ndarray:
    """The signed effect of each head [layer, head]: heavy-tailed, around one depth; one head serves all tasks."""
    layers, heads = shape
    near = np.exp(-(((np.arange(layers) / layers - depth) / 0.22) ** 2))[:, None]
    effect = rng.gamma(0.35, 0.02, shape) * (0.15 + near)
    effect[layers // 2, heads // 3] += 0.06
    return effect * np.where(rng.random(shape) < 0.2, -1, 1)


def _maps(
    rng: np.random.Generator, info: MethodInfo, truth: dict[str, np.ndarray], seeds: int, ablated: float
) -> list[Known]:
    shape = next(iter(truth.values())).shape
    left_out = np.zeros(shape, dtype=bool)
    if info.name == "ablate":
        left_out.ravel()[rng.permutation(left_out.size)[max(4, round(left_out.size * ablated)) :]] = True
    maps: list[Known] = []
    if {"share", "specific"} <= {measure.name for measure in info.measures}:
        maps += _shares(rng, info.name, {task: np.where(left_out, np.nan, effect) for task, effect in truth.items()})
    for task, effect in truth.items():
        for seed in range(seeds if info.name in ("probe", "gate") else 1):
            values = _roles(rng, effect) if info.kind == "role" else _importance(rng, effect, info, seed)
            for measure, (value, stderr, p) in values.items():
                value = np.where(left_out, np.nan, value)
                groups = GROUPS if stderr is not None else 0
                maps.append(Known(value, stderr, p, groups, info.name, measure, seed, task))
    return maps


def _importance(rng: np.random.Generator, effect: np.ndarray, info: MethodInfo, seed: int) -> dict:
    """Values, errors and p-values by measure: the primary one, and those that only some methods have."""
    given = {}
    for measure in (info.primary, *["alone"] * (info.name == "probe" and seed == 0)):
        stderr = 0.003 + 0.2 * np.abs(effect)
        value = effect + rng.normal(0, 0.7, effect.shape) * stderr
        given[measure] = value, stderr, 2 * stats.t.sf(np.abs(value / stderr), GROUPS - 1)
    return given


def _shares(rng: np.random.Generator, method: str, effects: dict[str, np.ndarray]) -> list[Known]:
    """Parts of the positive effects of every task, and how far they exceed the mean of the other tasks."""
    shares = {task: effect / np.nansum(effect[effect > 0]) for task, effect in effects.items()}
    maps = []
    for task, share in shares.items():
        others = [other for name, other in shares.items() if name != task]
        beyond = {"specific": share - np.mean(others, axis=0)} if others else {}
        for measure, value in ({"share": share} | beyond).items():
            stderr = 0.025 * np.nanmax(share) + 0.15 * np.abs(share)
            value = value + rng.normal(0, 0.7, value.shape) * stderr
            p = 2 * stats.t.sf(np.abs(value / stderr), GROUPS - 1)
            maps.append(Known(value, stderr, p, GROUPS, method, measure, 0, task))
    return maps


def _roles(rng: np.random.Generator, effect: np.ndarray) -> dict:
    """The five measures of gates, which have no errors."""
    minus = 1 / (1 + np.exp(-(effect * 120 - 2.5 + rng.normal(0, 1.2, effect.shape))))
    plus = 1 - 1 / (1 + np.exp(-(-effect * 160 - 3 + rng.normal(0, 1.2, effect.shape))))
    roles = {"facilitation": minus, "interference": 1 - plus, "irrelevance": plus * (1 - minus)}
    return {
        measure: (value, None, None) for measure, value in (roles | {"gate_plus": plus, "gate_minus": minus}).items()
    }


def _competence(rng: np.random.Generator, task: str, able: bool, mapped: bool) -> Competence:
    accuracy = float(rng.uniform(0.5, 0.9)) if able else 0.27
    return replace(competent(task, able, mapped), accuracy=accuracy, low=accuracy - 0.09, high=accuracy + 0.08)


def _evidence(
    rng: np.random.Generator,
    method: MethodInfo,
    tests: Sequence[TestInfo],
    tasks: Sequence[str],
    amount: Amount,
    accuracy: bool,
) -> list[Evidence]:
    rows = [row for test in tests if test.applies_to(method) for row in evidence_rows(rng, test, tasks, amount)]
    return [row for row in rows if accuracy or row.metric != "accuracy"]


def _audit(task: str) -> list[AuditRecord]:
    warning = "The options alone give the answer away more often than chance."
    return [
        AuditRecord(name="prompt length", task="all", value=0.12, limit=0.2, verdict="good", note=""),
        AuditRecord(name="answer from options", task=task, value=0.41, limit=0.35, verdict="warning", note=warning),
        AuditRecord(name="answer from lengths", task=task, value=0.41, limit=0.35, verdict="warning", note=warning),
    ]
