"""`headatlas.plan`: what a map will cost, before it is made, for any model by its configuration alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from headatlas.atlas.run_record import MapSettings
from headatlas.errors import UsageError
from headatlas.methods.base import Method
from headatlas.model.free_memory import free_memory, resident_memory
from headatlas.model.heads import HeadModel
from headatlas.model.loading import is_here, load, planned_device
from headatlas.model.memory import SAFE, Load, Memory, backward_fits, held_bytes
from headatlas.model.outline import Outline, read_outline
from headatlas.model.precision import is_rounded
from headatlas.model.sizes import Sizes, sizes
from headatlas.progress import Reporter
from headatlas.run.batches import BATCH_TOKENS
from headatlas.run.cells import Cell, in_groups
from headatlas.run.competence import competence_step
from headatlas.run.context import RunContext
from headatlas.run.crew import Crew, planned_lanes
from headatlas.run.encoding import Encoder
from headatlas.run.rounding import rounding_steps
from headatlas.run.selection import split_examples
from headatlas.run.speed import Speed, given_speed, time_matrices, time_model
from headatlas.run.words import Words
from headatlas.run.work import NotingRunner, Step
from headatlas.suites.suite import Suite
from headatlas.wording import duration, gigabytes, percent, rounded
from headatlas.workflows.choose_methods import in_turn
from headatlas.workflows.presets import DEFAULT
from headatlas.workflows.request import check_request
from headatlas.workflows.stages import readers_of

LONG = 600  # seconds from which on `map` says beforehand how long it will take


@dataclass(frozen=True)
class Stage:
    """One part of a run. `most` is the largest number of tokens it can come to; it is `tokens` where `exact`. `memory`
    are the bytes it holds at its peak, besides the weights."""

    name: str
    cells: int
    forwards: int
    tokens: int
    most: int
    exact: bool
    memory: int


@dataclass(frozen=True)
class Plan:
    """What a map will cost. `assumed` says in sentences what the numbers rest on, `too_large` that it takes more memory
    than is free on this machine. The speed and the memory are those of each of the `workers`."""

    model: str
    dtype: str
    suite: str
    sizes: Sizes
    stages: tuple[Stage, ...]
    speed: Speed
    memory: Memory
    assumed: tuple[str, ...]
    too_large: str = ""
    workers: int = 1

    @property
    def tokens(self) -> int:
        return sum(stage.tokens for stage in self.stages)

    @property
    def most(self) -> int:
        return sum(stage.most for stage in self.stages)

    @property
    def seconds(self) -> float:
        return self.seconds_of(self.tokens)

    @property
    def range(self) -> tuple[float, float]:
        """Seconds, from the fastest to the slowest that is likely."""
        return self.seconds / self.speed.factor, self.seconds * self.speed.factor

    @property
    def time(self) -> str:
        low, high = map(duration, self.range)
        return f"about {duration(self.seconds)} ({low} to {high})"

    @property
    def sentences(self) -> list[str]:
        """The plan in short."""
        parts = sorted(self.stages, key=lambda stage: -stage.tokens)[:3]
        shares = ", ".join(f"{part.name} {percent(part.tokens / max(self.tokens, 1), 0)}" for part in parts)
        each = f" for each of {self.workers} workers" if self.workers > 1 else ""
        rate = f"{rounded(self.speed.tokens_per_second)} tokens/s{each}"
        return [
            f"This will take {self.time}: {rounded(self.tokens)} tokens at {rate} ({self.speed.source}); {shares}.",
            f"Memory at the peak: about {gigabytes(self.memory.peak)}{each}. `headatlas plan` shows the parts.",
            *filter(None, [self.memory.beside]),
        ]

    def seconds_of(self, tokens: int) -> float:
        return tokens / self.speed.tokens_per_second / self.workers


def plan_map(
    model: HeadModel | str | Path | Any = "smollm2",
    suite: Suite | str | Path = "cognitive",
    methods: Sequence[str | Method] | None = None,
    *,
    tasks: Sequence[str] | None = None,
    preset: str = DEFAULT,
    limit: int | None = None,
    seeds: int | None = None,
    metric: str | None = None,
    baseline: str | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    level: int | None = None,
    chat: bool = False,
    tokenizer: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
    quantize: int | str | None = None,
    tokens_per_second: float | None = None,
    load_weights: bool = True,
    reporter: Reporter | None = None,
) -> Plan:
    """What `headatlas.map` with the same parameters would cost: cells, forwards, tokens, time and memory.

    `model` may also be a config.json or a configuration of transformers: no weights are needed. Where there are some on
    this machine and no `tokens_per_second` is given, they are loaded for a moment and timed if they take less than half
    of the free memory, unless `load_weights` is false. `tokenizer` is a folder with one, for configurations that come
    without.
    """
    speed, target = None if tokens_per_second is None else given_speed(tokens_per_second), planned_device(device)
    if speed is None and not is_here(target):
        raise UsageError(
            f"The device '{target}' is not on this machine, so nothing can be timed on it. Say how many tokens per "
            "second it runs: --tokens-per-second."
        )
    request = check_request(
        suite, methods, preset, tasks=tasks, limit=limit, seeds=seeds, metric=metric, baseline=baseline,
        settings=settings, level=level,
    )  # fmt: skip
    splits = split_examples(request.suite, request.limits, MapSettings.model_fields["split_seed"].default)
    reporter = reporter or Reporter(quiet=True)
    outline = model if isinstance(model, HeadModel) else read_outline(model, tokenizer, dtype, device, quantize)
    assumed = []
    if outline.tokenizer is None:
        outline.tokenizer = Words()
        assumed.append("No tokenizer is at hand: tokens are counted as words, digits and marks.")
    lanes = planned_lanes(sizes(outline).parameters, outline.dtype, target)
    process = None if isinstance(model, HeadModel) else resident_memory()
    context = RunContext(outline, splits, NotingRunner(Crew(lanes=lanes)), Encoder(outline, chat), process)
    if speed is None and load_weights and isinstance(outline, Outline) and _fits(outline, target):
        loaded = load(str(model), dtype=dtype, device=device, quantize=quantize, reporter=reporter)
        speed = time_model(RunContext(loaded, splits, NotingRunner(Crew.of(loaded)), Encoder(loaded, chat)))
        del loaded
    plan = make_plan(context, request.methods, request.suite.name, speed, target, assumed)
    return plan if isinstance(model, HeadModel) else replace(plan, too_large=_too_large(plan.memory, target))


def make_plan(
    context: RunContext,
    methods: Sequence[Method],
    suite: str,
    speed: Speed | None = None,
    device: torch.device | None = None,
    assumed: Sequence[str] = (),
    is_done: Callable[[Cell], bool] = lambda _: False,
    known_only: bool = False,
) -> Plan:
    """The plan of a run in a context; cells that are done are left out. The speed is timed unless it is given, on the
    `device` where the model is only an outline."""
    size, length, crew = sizes(context.model), _mean_length(context), context.runner.crew
    noted, said, run = [], list(assumed), list[Step]()
    seen: set[str] = set()
    for name, steps in stage_steps(context, methods, is_done, known_only):
        if steps is None:
            said.append(f"{name} does not say what it runs, and is not counted.")
            continue
        noted.append(_stage(name, steps, size, crew, seen, is_done))
        run += steps
    if speed is None:
        speed = _timed(context, size, length, device)
    if any(not stage.exact for stage in noted):
        inexact = ", ".join(stage.name for stage in noted if not stage.exact)
        said.append(
            f"What {inexact} will run depends in part on results: the tokens are expected, with an upper bound."
        )
    if is_rounded(context.model):
        said.append(
            "What rounding adds is measured in float32, which takes twice the memory of the weights meanwhile; where "
            "that is not there, it is left out."
        )
    said.append("Every task is mapped; one that the model turns out to be at chance on costs its competence only.")
    said.append("Audit, figures and report are not counted.")
    return Plan(
        model=context.model.name,
        dtype=str(context.model.dtype).removeprefix("torch."),
        suite=suite,
        sizes=size,
        stages=tuple(noted),
        speed=speed,
        memory=Memory(
            size.weights,
            _largest(size, run, crew, backward=True),
            _largest(size, run, crew, backward=True, checkpoint=True),
            _largest(size, run, crew, backward=False),
            context.process,
        ),
        assumed=tuple(said),
    )


def announce(
    context: RunContext, methods: Sequence[Method], reporter: Reporter, workers: int = 1, known_only: bool = False
) -> Plan | None:
    """Say how long a map will take if that is long, and whether backwards will save memory. Writes nothing; makes no
    plan where nobody would hear of it."""
    if reporter.quiet:
        return None
    done = context.runner.path
    suite = context.splits["fit"].name
    plan = make_plan(context, methods, suite, is_done=lambda cell: done(cell).exists(), known_only=known_only)
    plan = replace(plan, workers=workers)
    if plan.seconds > LONG:
        for sentence in plan.sentences:
            reporter.say(sentence)
    held, less = plan.memory.backward, plan.memory.checkpointed
    if held and not backward_fits(context.model, held):
        reporter.say(
            f"A backward would hold {gigabytes(held)}, more than is free: layers are computed again in it, which holds "
            f"{gigabytes(less)} and takes one more forward. No number depends on it."
        )
    return plan


def stage_steps(
    context: RunContext,
    methods: Sequence[Method],
    is_done: Callable[[Cell], bool] = lambda _: False,
    known_only: bool = False,
) -> list[tuple[str, list[Step] | None]]:
    """Of every stage of a run, in order; what a step needs beforehand (such as means of heads) comes before it."""
    judging = competence_step(context, readers_of(context, methods, known_only), is_done)
    stages: list[tuple[str, list[Step] | None]] = [("competence", [judging])]
    for method in in_turn(methods):
        runner = NotingRunner()
        steps = method.work(context.with_runner(runner))
        stages.append((method.info.name, None if steps is None else [*runner.steps, *steps]))
    rounding = rounding_steps(context)
    return [*stages, ("rounding", rounding)] if rounding else stages


def _stage(
    name: str, steps: Sequence[Step], size: Sizes, crew: Crew, seen: set[str], is_done: Callable[[Cell], bool]
) -> Stage:
    """The sum of some steps. A cell counts once in a plan: a run that meets it again reuses it."""
    cells = forwards = tokens = most = 0
    for step in steps:
        new = [cell for key, cell in {cell.key: cell for cell in step.cells}.items() if key not in seen]
        seen |= {cell.key for cell in new}
        new = [cell for cell in new if not is_done(cell)]
        expected = sum(cell.tokens for cell in new)
        cells, forwards = cells + len(new), forwards + sum(cell.forwards for cell in new)
        tokens, most = tokens + expected, most + max(expected, step.most or 0)
    memory = max(_largest(size, steps, crew, backward) for backward in (True, False))
    return Stage(name, cells, forwards, tokens, most, all(step.most is None for step in steps), memory)


def _largest(size: Sizes, steps: Sequence[Step], crew: Crew, backward: bool, checkpoint: bool = False) -> int:
    """Bytes that the largest step holds besides the weights, of those with or without a backward."""
    held = [
        step.beside + crew.lanes_of(len(in_groups(step.cells))) * held_bytes(size, load, checkpoint)
        for step in steps
        for load in step.loads or [Load(BATCH_TOKENS)]
        if load.backward == backward
    ]
    return max([*held, *(step.beside for step in steps if not backward)], default=0)


def _fits(outline: Outline, device: torch.device) -> bool:
    """Whether there are weights that take at most half of the memory that is free."""
    free = free_memory(device)
    return outline.folder is not None and free is not None and 2 * sizes(outline).weights <= free


def _too_large(memory: Memory, device: torch.device) -> str:
    """What to do where a run takes more than is free, even if it saves memory; empty where it fits or nobody knows."""
    free, least = free_memory(device), memory.weights + max(memory.checkpointed, memory.forward)
    if free is None or least <= SAFE * free:
        return ""
    return (
        f"It does not fit here: {gigabytes(free)} are free on this machine's {device.type}, of which a run uses at "
        f"most {percent(SAFE, 0)}, and it takes at least {gigabytes(least)}. --dtype bfloat16 halves float32, "
        "--quantize 4 takes about an eighth of it, and "
        "`headatlas map --device-map auto` uses several devices, main memory and disk."
    )


def _timed(context: RunContext, size: Sizes, length: float, device: torch.device | None) -> Speed:
    model = context.model
    if not isinstance(model, Outline):
        return time_model(context)
    return time_matrices(size, length, model.dtype, device or planned_device(None), context.runner.crew.lanes)


def _mean_length(context: RunContext) -> float:
    """Tokens of a text of the run, with its answer."""
    lengths = [batch.lengths for task in context.tasks for batch in context.batches(task, "fit")]
    return float(torch.cat(lengths).double().mean())
