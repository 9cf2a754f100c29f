"""Evidence tests on maps of noise: on made-up outcomes, and on small random models as `verify` tests them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from headatlas.evidence.base import EvidenceTest, TestSettings
from headatlas.evidence.choice import Ranking, matched
from headatlas.evidence.hierarchy import Hierarchy
from headatlas.evidence.mask import Mask
from headatlas.evidence.specificity import OTHERS, Specificity
from headatlas.evidence.steer import DIRECTIONS, HEADS, Steer
from headatlas.evidence.trial import Trial
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.cells import Runner
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.stats import LEVEL, q_values
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

WORDS = ("red", "blue", "green", "one", "two", "three", "four", "five", "box", "key", "is", "the", "in", "of")
SHAPE = (30, 9)
CHAINS, HIGH = 10, "High"


@dataclass
class Null:
    """p-values, whether each interval excludes zero, and whether any p of a model has q < 0.05."""

    p_values: list[float] = field(default_factory=list)
    excluded: list[bool] = field(default_factory=list)
    discoveries: list[bool] = field(default_factory=list)

    def add(self, row: object) -> None:
        p, low, high = (getattr(row, name) for name in ("p_value", "low", "high"))
        self.p_values += [] if p is None else [p]
        self.excluded.append(low is not None and high is not None and (low > 0 or high < 0))


def null_tests(times: int = 1000, models: int = 40) -> Iterator[tuple[str, Null]]:
    """Every comparison with sets of heads."""
    for draws in (5, 20, 60):
        for examples in (8, 36, 144):
            for k in (16, 128):
                heading = f"mask, {k} of 30 x 9 heads, {draws} draws, {examples} examples"
                yield heading, simulated(Mask(), "less", draws, examples, k, times)
    for others in (5, 7):
        for examples in (8, 36, 144):
            heading = f"specificity, {others} other tasks, {examples} examples"
            yield heading, simulated(Specificity(), None, others, examples, 16, times)
    yield "mask, random models", on_models(Mask(), "random", 10 * models)
    yield "specificity, random models", on_models(Specificity(), OTHERS, models)
    yield "hierarchy, random models", on_models(Hierarchy(), "random", 6 * models)
    yield "steer against random heads, random models", on_models(Steer(), HEADS, models // 2)
    yield "steer against random directions, random models", on_models(Steer(), DIRECTIONS, models // 2)


def simulated(test: EvidenceTest, better: Literal["less"] | None, sets: int, examples: int, k: int, times: int) -> Null:
    """Heads with effects of very different sizes, which vary from example to example; the map is noise."""
    null = Null()
    layers, heads = SHAPE
    for seed in range(times):
        rng = np.random.default_rng([seed, sets, examples, k])
        effects = -rng.lognormal(0, 1.5, size=(layers * heads, 1)) * rng.exponential(size=(layers * heads, examples))
        order = rng.permutation(layers * heads)
        top = frozenset((int(i) // heads, int(i) % heads) for i in order[:k])
        removed = np.zeros((1 + sets, layers * heads))
        for row, chosen in zip(removed, [top, *(matched(top, SHAPE, rng) for _ in range(sets))], strict=True):
            row[[layer * heads + head for layer, head in chosen]] = 1
        values, names = removed @ effects, [str(i) for i in range(examples)]
        about = {"task": "task", "eval_task": "task", "control": "top"}
        for found in test.against_sets({"margin": values}, names, 0, range(1, sets + 1), better, **about):
            null.add(found)
    return null


def on_models(test: EvidenceTest, compared_with: str, times: int, tasks: int = 6) -> Null:
    """Maps of noise on random models of 4 x 6 heads."""
    null = Null()
    for seed in range(times):
        before = len(null.p_values)
        with tempfile.TemporaryDirectory() as folder:
            for row in test.run(noise_trial(Path(folder), seed, tasks)):
                if (row.compared_with, row.metric) == (compared_with, "margin"):
                    null.add(row)
        of_model = np.array(null.p_values[before:])
        null.discoveries += [bool((q_values(of_model) < LEVEL).any())] if len(of_model) else []
    return null


def noise_trial(folder: Path, seed: int, tasks: int) -> Trial:
    """A random model, a suite of made-up sentences with chains, and maps that are noise."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS) + 1, hidden_size=48, intermediate_size=32, num_hidden_layers=4, num_attention_heads=6,
        max_position_embeddings=64, bos_token_id=None, eos_token_id=0,
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
    chains = [step for number in range(CHAINS) for step in _chain(rng, names[0], number)]
    return Trial(context, names, rankings, settings, chains, low_level=names[:3], high_level=(HIGH,))


def _example(rng: np.random.Generator, task: str, number: int) -> Example:
    words = rng.choice(WORDS, size=8, replace=False)
    return Example(
        id=f"{task}/{number}", task=task, group=f"{task}/{number}", prompt=" ".join(words[:6]),
        answer=f" {words[6]}", distractors=(f" {words[7]}",),
    )  # fmt: skip


def _chain(rng: np.random.Generator, low: str, number: int) -> list[Example]:
    """A low-level step, and a high-level one whose prompt holds the answer of the first."""
    words = rng.choice(WORDS, size=12, replace=False)
    group, chain = f"chain/{number}", f"chain {number}"
    first = Example(
        id=f"chain/{number}/0", task=low, prompt=" ".join(words[:4]), answer=f" {words[4]}",
        distractors=(f" {words[5]}",), step=0, group=group, chain=chain,
    )  # fmt: skip
    prompt = f"{first.prompt}{first.answer} {' '.join(words[6:9])}"
    second = Example(
        id=f"chain/{number}/1", task=HIGH, prompt=prompt, answer=f" {words[9]}", distractors=(f" {words[10]}",), step=1,
        group=group, chain=chain,
    )  # fmt: skip
    return [first, second]


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    """One token per word."""
    raw = Tokenizer(models.WordLevel({"<end>": 0, **{word: i + 1 for i, word in enumerate(WORDS)}}, unk_token="<end>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", pad_token="<end>")
