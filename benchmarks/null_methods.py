"""p-values of methods where they should say nothing: maps of noise, and heads that matter without what is tested."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from headatlas.methods.ablate import Ablate
from headatlas.methods.certify import certify_all, draw_examples
from headatlas.methods.measurements import Part, nothing_measured
from headatlas.methods.probe.data import ProbeData
from headatlas.methods.probe.linear import fit_linear
from headatlas.methods.probe.report import maps
from headatlas.methods.repair.repair import Repair
from headatlas.methods.rounds import most_turns, run_rounds
from headatlas.methods.sense.masks import draw_masks
from headatlas.methods.sense.pairs import BACKS_UP
from headatlas.methods.sense.regression import regress, summarise_effects
from headatlas.methods.sense.sense import Sense
from headatlas.methods.specific import shares, specific
from headatlas.model.heads import HeadModel
from headatlas.planted.canvas import GPT2Canvas
from headatlas.planted.noise import fill
from headatlas.planted.tasks import pick
from headatlas.planted.words import COLOURS, ORDINALS, tokenizer
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.selection import split_examples
from headatlas.stats import LEVEL, Array, Summary, q_values, summarise
from headatlas.suites.suite import SPLITS, Suite
from headatlas.workflows.presets import split_limits

HEADS = 270
STRONG = 1.5  # the effect of heads that have one, in standard deviations of a group
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]
NOISE: Mapping[str, Draw] = {  # all have the mean 0 and the variance 1
    "normal": lambda rng, size: rng.normal(0, 1, size),
    "exponential": lambda rng, size: rng.exponential(1, size) - 1,
    "t(3)": lambda rng, size: rng.standard_t(3, size) / np.sqrt(3),
}
Estimate = Callable[[Array, list[str], np.random.Generator], Summary]  # from effects [example, head] and groups


def exact(effects: Array, groups: list[str], rng: np.random.Generator) -> Summary:
    """Every example measured."""
    return summarise(effects, groups)


def certified(effects: Array, groups: list[str], rng: np.random.Generator) -> Summary:
    """As in the quick preset: attributions that are mostly right, and rough ones at the twins; few exact examples, more
    where heads may matter."""
    wrong = (rng.random(effects.shape) < 0.03) * rng.normal(0, 0.8, effects.shape)
    attributed = effects * (1 + 0.1 * rng.normal(size=effects.shape) + wrong)
    quick = Ablate(**Ablate.presets["quick"])
    assert quick.exact != "all"
    cost = rng.integers(1, 25, len(effects)).astype(float)
    draw = draw_examples(attributed, cost, most_turns(quick.exact), rng)
    state = {"task": nothing_measured(attributed, np.abs(attributed), groups, draw)}

    def measure(whose: str, parts: Sequence[Part]) -> list[Array]:
        return [effects[np.ix_(part.examples, part.units)] for part in parts]

    def at_twins(tasks: Sequence[str]) -> dict[str, Array]:
        return dict.fromkeys(tasks, effects * (1 + rng.normal(size=effects.shape)))

    result = run_rounds(state, [HEADS], quick.exact, quick.thorough, measure, at_twins)["task"]
    return result.certified(range(HEADS)).summary


def maps_of_effects(
    estimate: Estimate, draw: Draw, groups: int, times: int, share: float = 0.0
) -> tuple[list[float], list[float]]:
    """p-values of heads without an effect, two examples to a group; and the share of false ones among the discoveries
    of each map, in which a `share` of the heads has an effect."""
    p_values: list[float] = []
    false_shares: list[float] = []
    names = [str(i // 2) for i in range(2 * groups)]
    has_effect = np.arange(HEADS) < share * HEADS
    for seed in range(times):
        rng = np.random.default_rng([seed, groups])
        scale = rng.lognormal(0, 1, HEADS)
        shared = np.repeat(draw(rng, (groups, HEADS)), 2, axis=0)
        effects = scale * (shared + 0.3 * rng.normal(size=shared.shape) + STRONG * has_effect)
        p = estimate(effects, names, rng).p_value
        p_values += p[~has_effect].tolist()
        found = q_values(p) < LEVEL
        false_shares.append(float((found & ~has_effect).sum() / max(1, found.sum())))
    return p_values, false_shares


def specific_null(draw: Draw, groups: int, times: int, tasks: int = 4) -> tuple[list[float], list[float]]:
    """`specific` of heads that matter to all tasks alike: p-values, and for each map 1 if it has a discovery."""
    p_values: list[float] = []
    false_shares: list[float] = []
    names = [str(i) for i in range(groups)]
    for seed in range(times):
        rng = np.random.default_rng([seed, groups, 1])
        size = rng.lognormal(0, 1, HEADS)
        effects = [size * (1 + draw(rng, (groups, HEADS))) for _ in range(tasks)]
        of_task = {str(i): shares(certify_all(each, names)) for i, each in enumerate(effects)}
        p = specific(of_task)["0"].summary.p_value
        p_values += p.tolist()
        false_shares.append(float((q_values(p) < LEVEL).any()))
    return p_values, false_shares


def sense_null(
    draw: Draw, groups: int, times: int, share: float = 0.0, bounded: bool = False
) -> tuple[list[float], list[float], float]:
    """Effects from 200 random masks of 90 heads, 16 examples each: p-values of heads without an effect, the share of
    false ones among the discoveries of each map, and the coverage of all 95 % intervals.

    A `share` of the heads has an effect. The others are worth something to every group of examples, but nothing on
    average. Where losses are `bounded`, the others are worth nothing at all, what heads do together is less than its
    sum, and there is noise beside it; coverage is then that of heads without an effect.
    """
    p_values: list[float] = []
    false_shares: list[float] = []
    covered: list[float] = []
    shape, examples = (10, 9), 96
    names = [str(i % groups) for i in range(examples)]
    heads = shape[0] * shape[1]
    has_effect = np.arange(heads) < share * heads
    for seed in range(times):
        rng = np.random.default_rng([seed, groups, 2])
        masks = draw_masks(shape, examples, 200, 16, seed)
        scale = rng.lognormal(0, 1, heads) * (has_effect | (not bounded))
        shared = np.tile(draw(rng, (groups, heads)), (-(-examples // groups), 1))[:examples]
        effects = scale * (shared + 0.3 * rng.normal(size=shared.shape) + STRONG * has_effect)
        losses = np.einsum("etmh,eh->etm", masks.removed[masks.blocks].astype(float), effects)
        if bounded:
            bound = max(1.0, 1.5 * np.abs(losses).mean())
            losses = bound * np.tanh(losses / bound) + 0.3 * draw(rng, losses.shape)
        summary = summarise_effects(masks, regress(masks, losses, names, seed).effects, names)
        p_values += summary.p_value[~has_effect].tolist()
        found = q_values(summary.p_value) < LEVEL
        false_shares.append(float((found & ~has_effect).sum() / max(1, found.sum())))
        known = ~has_effect | (not bounded)
        true = scale * STRONG * has_effect
        covered.append(float(((summary.low <= true) & (true <= summary.high))[known].mean()))
    return p_values, false_shares, float(np.mean(covered))


def probe_null(times: int, carriers: int) -> dict[str, tuple[list[float], list[float]]]:
    """Both measures of the linear probe: p-values of heads that carry nothing, beside `carriers` heads that do, and the
    share of false ones among the discoveries of each map."""
    nulls: dict[str, tuple[list[float], list[float]]] = {"information": ([], []), "alone": ([], [])}
    for seed in range(times):
        data = probe_data(seed, carriers)
        heads = [(0, head) for head in range(data.features["fit"].shape[1])]
        with tempfile.TemporaryDirectory() as folder:
            fits = fit_linear(_bare_context(Path(folder)), data, 20, 1)
        for entry in maps("probe", data, fits, heads, signed=False):
            p_values, false_shares = nulls[entry.measure]
            p_values += entry.summary.p_value[carriers:].tolist()
            found = q_values(entry.summary.p_value) < LEVEL
            false_shares.append(float(found[carriers:].sum() / max(1, found.sum())))
    return nulls


def probe_data(seed: int, carriers: int, tasks: int = 4, heads: int = 20, dim: int = 16) -> ProbeData:
    """Noise, two examples to a group that share half of it; the first heads move with the task."""
    rng = np.random.default_rng([seed, carriers])
    axes = rng.normal(size=(tasks, carriers, dim))
    features, labels, groups = {}, {}, {}
    for split, each in zip(SPLITS, (40, 24, 12), strict=True):
        n = each * tasks
        labels[split] = np.repeat(np.arange(tasks), each)
        noise = np.repeat(rng.normal(size=(n // 2, heads, dim)), 2, axis=0) + rng.normal(size=(n, heads, dim))
        noise[:, :carriers] += 0.5 * axes[labels[split]]
        features[split] = torch.tensor(1 + noise, dtype=torch.float32)
        groups[split] = np.array([f"{split}/{i // 2:03d}" for i in range(n)])
    return ProbeData(tuple("ABCD"[:tasks]), features, labels, groups)


FIRST, SECOND = (0, 4), (2, 3)


def independent_heads(seed: int) -> GPT2Canvas:
    """Two heads that answer, each for itself: both matter, and neither does more where the other is missing."""
    canvas = GPT2Canvas(seed)
    positions = canvas.space["position"][1 : 1 + len(ORDINALS)]
    for head, size in ((FIRST, 1.0), (SECOND, 0.6)):
        canvas.plant(head, "helps")
        canvas.look(head, canvas.tokens(ORDINALS), positions, score=4.5)
        canvas.copy(head, canvas.tokens(COLOURS), canvas.out(COLOURS), size)
    fill(canvas, list(pick(seed)))
    return canvas


def repair_null(times: int) -> Iterator[tuple[list[float], bool]]:
    """p-values of candidates for a takeover and whether any has q < 0.05, for every draw of `independent_heads`."""
    for seed in range(times):
        with tempfile.TemporaryDirectory() as folder:
            context = _independent_context(seed, Path(folder))
            for head_map in Repair(**Repair.presets["quick"]).measure(context).maps:
                p = head_map.summary.p_value
                yield p.tolist(), bool((q_values(p) < LEVEL).any())


def sense_pairs_null(times: int) -> Iterator[bool]:
    """For every draw of `independent_heads` whether `sense` says of any two heads that they back each other up."""
    for seed in range(times):
        with tempfile.TemporaryDirectory() as folder:
            context = _independent_context(seed, Path(folder))
            entries = Sense(**Sense.presets["quick"]).measure(context).diagnostics
        yield any(entry.metric.startswith(BACKS_UP) for entry in entries)


def _independent_context(seed: int, folder: Path) -> RunContext:
    model = HeadModel(independent_heads(seed).module, tokenizer(), name="independent heads")
    suite = Suite("independent heads", tuple(pick(seed)))
    splits = split_examples(suite, split_limits("quick", None), seed)
    return RunContext(model, splits, Runner(folder, Reporter(quiet=True)), Encoder(model))


def _bare_context(folder: Path) -> RunContext:
    """A context for fits that need no model; that of the planted heads is small."""
    model = HeadModel(GPT2Canvas(0).module, tokenizer(), name="none")
    splits = Suite("none", tuple(pick(0))).split()
    return RunContext(model, splits, Runner(folder, Reporter(quiet=True)), Encoder(model))
