"""How far the p-values and intervals of evidence can be trusted: nulls and known truths, simulated many times.

`python -m benchmarks calibration` takes some minutes on one core and needs no model. A shorter form is in the tests.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import transformers
from scipy import stats
from tokenizers import Tokenizer, models, pre_tokenizers

from headatlas.evidence.base import EvidenceTest, TestSettings
from headatlas.evidence.choice import Ranking, matched
from headatlas.evidence.mask import Mask
from headatlas.evidence.specificity import OTHERS, Specificity
from headatlas.evidence.steer import HEADS, Steer
from headatlas.evidence.trial import Trial
from headatlas.intervals import change_interval, mean_interval, ratio_interval
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.stats import Array
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

GROUPS = (6, 8, 12, 20, 40)
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]
EFFECTS: Mapping[str, Draw] = {  # all have the mean 1
    "normal": lambda rng, size: rng.normal(1, 1, size),
    "exponential": lambda rng, size: rng.exponential(1, size),
    "t(3)": lambda rng, size: 1 + rng.standard_t(3, size),
}
WORDS = ("red", "blue", "green", "one", "two", "three", "four", "five", "box", "key", "is", "the", "in", "of")


def run() -> None:
    print("Coverage of 95 % intervals", f"{'groups':>8}", *(f"{name:>12}" for name in EFFECTS))
    for name, coverage in (("mean of a change", mean_coverage), ("fraction, perplexity", ratio_coverage)):
        for groups in GROUPS:
            shares = [coverage(draw, groups, 4000) for draw in EFFECTS.values()]
            print(f"{name:<26}", f"{groups:>8}", *(f"{share:>12.3f}" for share in shares))
    print("\nChange of accuracy, share of examples lost", f"{'groups':>8}", *(f"{lost:>8}" for lost in LOST))
    for groups in GROUPS:
        print(" " * 42, f"{groups:>8}", *(f"{change_coverage(lost, groups, 1000):>8.3f}" for lost in LOST))
    print("\nMaps of noise: how often p < 0.05, its distance from uniform (KS), and intervals that exclude 0")
    for heading, (p, excluded) in null_maps():
        print(f"{heading:<64} p < 0.05 {p_below(p)}  KS {distance(p)}  excluded {np.mean(excluded):.3f}", flush=True)


LOST = (0.02, 0.1, 0.3, 0.6)


def mean_coverage(draw: Draw, groups: int, times: int) -> float:
    low, high = mean_interval(draw(np.random.default_rng(groups), (groups, times)), _names(groups))
    return float(np.mean((low <= 1) & (high >= 1)))


def ratio_coverage(draw: Draw, groups: int, times: int) -> float:
    """Of sums over sums, whose truth is 0.5."""
    rng = np.random.default_rng(groups)
    sizes = 2 + draw(rng, (groups, times))
    low, high = ratio_interval(0.5 * sizes + draw(rng, (groups, times)) - 1, sizes, _names(groups))
    return float(np.mean((low <= 0.5) & (high >= 0.5)))


def change_coverage(lost: float, groups: int, times: int) -> float:
    """Of a change of accuracy by `lost`, where nothing is gained."""
    after = (np.random.default_rng(groups).random((groups, times)) >= lost).astype(float)
    low, high = change_interval(np.ones(groups), after, _names(groups))
    return float(np.mean((low <= -lost) & (high >= -lost)))


Null = tuple[list[float], list[bool]]  # p-values, and whether each interval excludes zero


def null_maps(times: int = 300) -> Iterator[tuple[str, Null]]:
    """Every comparison with sets of heads, on made-up outcomes and on small random models."""
    for draws in (5, 20, 60):
        for examples in (8, 36, 144):
            for k in (16, 128):
                heading = f"mask, {k} of 30 x 9 heads, {draws} draws, {examples} examples"
                yield heading, simulated(Mask(), "less", draws, examples, k, times)
    for others in (5, 7):
        for examples in (8, 36, 144):
            heading = f"specificity, {others} other tasks, {examples} examples"
            yield heading, simulated(Specificity(), None, others, examples, 16, times)
    yield "mask, random models", on_models(Mask(), "random", times=40)
    yield "specificity, random models", on_models(Specificity(), OTHERS, times=40)
    yield "steer against random heads, random models", on_models(Steer(), HEADS, times=20)


def simulated(test: EvidenceTest, better: Literal["less"] | None, sets: int, examples: int, k: int, times: int) -> Null:
    """Heads with effects of very different sizes, which vary from example to example; the map is noise."""
    shape = (30, 9)
    p_values: list[float] = []
    excluded = []
    for seed in range(times):
        rng = np.random.default_rng([seed, sets, examples, k])
        effects = -rng.lognormal(0, 1.5, size=(*shape, 1)) * rng.exponential(size=(*shape, examples))
        order = rng.permutation(shape[0] * shape[1])
        top = frozenset((int(i) // shape[1], int(i) % shape[1]) for i in order[:k])
        chosen = [top, *(matched(top, shape, rng) for _ in range(sets))]
        values = np.stack([sum(effects[head] for head in sorted(heads)) for heads in chosen])
        about = {"task": "task", "eval_task": "task", "control": "top"}
        compared = test.against_sets({"margin": values}, _names(examples), 0, range(1, sets + 1), better, **about)
        (row,) = compared
        p_values += [] if row.p_value is None else [row.p_value]
        excluded.append(row.low is not None and row.high is not None and (row.low > 0 or row.high < 0))
    return p_values, excluded


def on_models(test: EvidenceTest, compared_with: str, times: int, tasks: int = 6) -> Null:
    """Maps of noise on random models of 4 x 6 heads, tested as `verify` tests them."""
    p_values, excluded = [], []
    for seed in range(times):
        with tempfile.TemporaryDirectory() as folder:
            for row in test.run(noise_trial(Path(folder), seed, tasks)):
                if (row.compared_with, row.metric) == (compared_with, "margin"):
                    p_values += [] if row.p_value is None else [row.p_value]
                    excluded.append(row.low is not None and row.high is not None and (row.low > 0 or row.high < 0))
    return p_values, excluded


def noise_trial(folder: Path, seed: int, tasks: int) -> Trial:
    """A random model, a suite of made-up sentences, and maps that are noise."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS) + 1, hidden_size=48, intermediate_size=32, num_hidden_layers=4, num_attention_heads=6,
        max_position_embeddings=32, bos_token_id=None, eos_token_id=0,
    )  # fmt: skip
    module = transformers.AutoModelForCausalLM.from_config(config).float().eval().requires_grad_(False)
    for parameter in module.parameters():
        if parameter.dim() > 1:
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    model = HeadModel(module, _tokenizer(), name="random")
    names = [f"Task {i}" for i in range(tasks)]
    examples = [_example(rng, task, i) for task in names for i in range(40)]
    runner, splits = Runner(folder, Reporter(quiet=True)), Suite("noise", tuple(examples)).split()
    context = RunContext(model, splits, runner, Encoder(model))
    settings = TestSettings(
        ks=(4,), k=4, draws=20, few_draws=20, sizes=(4,), examples=None, chains=None, elbow=False, seed=seed
    )
    rankings = {}
    for task in names:
        grid = rng.normal(size=model.shape)
        order = np.argsort(-grid.ravel())
        rankings[task] = Ranking.from_map([(int(i) // model.n_heads, int(i) % model.n_heads) for i in order], grid)
    return Trial(context, names, rankings, settings)


def _example(rng: np.random.Generator, task: str, number: int) -> Example:
    words = rng.choice(WORDS, size=8, replace=False)
    return Example(
        id=f"{task}/{number}", task=task, group=f"{task}/{number}", prompt=" ".join(words[:6]),
        answer=f" {words[6]}", distractors=(f" {words[7]}",),
    )  # fmt: skip


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    """One token per word."""
    raw = Tokenizer(models.WordLevel({"<end>": 0, **{word: i + 1 for i, word in enumerate(WORDS)}}, unk_token="<end>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", pad_token="<end>")


def p_below(p_values: list[float]) -> str:
    return f"{np.mean(np.array(p_values) < 0.05):.3f}" if p_values else "    –"


def distance(p_values: list[float]) -> str:
    return f"{stats.kstest(p_values, 'uniform').statistic:.3f}" if p_values else "    –"


def _names(count: int) -> list[str]:
    return [str(i) for i in range(count)]
