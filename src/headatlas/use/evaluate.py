"""`headatlas.evaluate`: lm-evaluation-harness with heads masked, against random sets of heads of the same layers."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.heads import choose_heads
from headatlas.atlas.records import Head
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.evidence.choice import INTACT, Heads, different_draws
from headatlas.intervals import change_interval, mean_interval, set_interval, too_few
from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
from headatlas.run.interventions import gates_without
from headatlas.stats import Array
from headatlas.wording import count
from headatlas.workflows.held_out import model_of

RANDOM = 20  # sets of heads to compare with, unless asked otherwise
Items = dict[tuple[str, str], dict[int, float]]  # by task and metric, and by the number of the item


@dataclass(frozen=True)
class Evaluated:
    """A metric of a task: its mean over items intact and masked, with the 95 % interval of the change; and the mean
    over the random sets, with the interval of masked less random. None where it is not known; `remark` says why."""

    task: str
    metric: str
    items: int
    intact: float
    masked: float
    low: float | None
    high: float | None
    sets: int
    random: float | None
    random_low: float | None
    random_high: float | None
    remark: str | None


def evaluate(
    tasks: Sequence[str],
    mask: str | Iterable[Head],
    *,
    atlas: Atlas | str | Path,
    model: HeadModel | str | Path | None = None,
    random: int = RANDOM,
    include: str | Path | None = None,
    limit: int | None = None,
    fewshot: int | None = None,
    batch: int = 8,
    seed: int = 0,
    method: str | None = None,
    load_options: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> list[Evaluated]:
    """Run tasks of lm-evaluation-harness on the model of an atlas: intact, without the masked heads, and without each
    of `random` sets of as many heads in the same layers. Masked heads write nothing.

    `include` is a folder with task files (YAML) of your own. Items are samples, and so are the random sets; each item
    counts as a group by itself. Metrics that are no mean over items are left out.
    """
    harness, manager = _harness(tasks, include)
    for name, number, least in (
        ("random", random, 0),
        ("limit", limit, 1),
        ("fewshot", fewshot, 0),
        ("batch", batch, 1),
    ):
        if number is not None and number < least:
            raise UsageError(f"`{name}` {number} was asked for; it must be at least {least}.")
    reporter = reporter or Reporter()
    opened = atlas if isinstance(atlas, Atlas) else Atlas(atlas)
    chosen = frozenset(choose_heads(mask, opened.shape, opened.run.model.kv_heads, opened, method))
    loaded = model_of(opened, model, load_options or {}, reporter)
    drawn = different_draws(chosen, loaded.shape, np.random.default_rng(seed), random) if random else []
    with _quiet():
        language_model = harness.models.huggingface.HFLM(
            pretrained=loaded.module, tokenizer=loaded.tokenizer, batch_size=batch
        )
    measured = []
    with reporter.spinner(f"Evaluating intact, masked, and {count(len(drawn), 'random set')} of heads"):
        for heads in (INTACT, chosen, *drawn):
            with _quiet(), _without(loaded, heads):
                results = harness.simple_evaluate(
                    language_model, tasks=list(tasks), task_manager=manager, limit=limit, num_fewshot=fewshot,
                    bootstrap_iters=0, log_samples=True,
                )  # fmt: skip
            measured.append(_items(results))
    return _summarise(measured)


def _harness(tasks: Sequence[str], include: str | Path | None) -> tuple[Any, Any]:
    """The package and its tasks; an unknown task is refused before anything is loaded."""
    try:
        import lm_eval
        import lm_eval.models.huggingface
        from lm_eval.tasks import TaskManager
    except ImportError:
        raise HeadAtlasError(
            "Evaluations need lm-evaluation-harness, which is not installed: pip install 'headatlas[eval]'"
        ) from None
    if not tasks:
        raise UsageError("Say which tasks to evaluate.")
    with _quiet():
        if include is not None:
            if not Path(include).is_dir():
                raise UsageError(f"`include` {include} is no folder; give one with task files.")
            manager = TaskManager(include_path=str(include), include_defaults=False)
            if set(tasks) <= set(manager.all_tasks):  # reading the thousands that come with the harness takes long
                return lm_eval, manager
        manager = TaskManager(include_path=None if include is None else str(include))
    for name in tasks:
        if name not in manager.all_tasks:
            near = get_close_matches(name, manager.all_tasks, n=3)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise UsageError(f"lm-evaluation-harness has no task {name!r}.{hint} `lm_eval ls tasks` lists all.")
    return lm_eval, manager


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The harness logs and draws bars for every run; ours counts them."""
    logger = logging.getLogger("lm_eval")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def _without(model: HeadModel, heads: Heads) -> Iterator[None]:
    (gates,) = gates_without(model.shape, [heads])
    with torch.inference_mode(), model.gate(gates):
        yield


def _items(results: Mapping[str, Any]) -> Items:
    """What every item scored; a metric whose items are no numbers is left out."""
    items: Items = {}
    for task, samples in results["samples"].items():
        for sample in samples:
            for metric in sample["metrics"]:
                value = sample[metric]
                if isinstance(value, (bool, int, float, np.number)):
                    name = metric if sample["filter"] == "none" else f"{metric} ({sample['filter']})"
                    items.setdefault((task, name), {})[int(sample["doc_id"])] = float(value)
    return items


def _summarise(measured: Sequence[Items]) -> list[Evaluated]:
    if not measured[0]:
        raise HeadAtlasError("None of the metrics of these tasks is a mean over items; nothing can be compared.")
    rows = []
    for task, metric in measured[0]:
        numbers = sorted(measured[0][task, metric])
        values = np.array([[items[task, metric][number] for number in numbers] for items in measured])
        rows.append(_compare(task, metric, values))
    return rows


def _compare(task: str, metric: str, values: Array) -> Evaluated:
    """From values [run, item]: the intact model, the masked one, then the random sets."""
    groups = [str(i) for i in range(values.shape[1])]
    intact, masked, drawn = values[0], values[1], values[2:]
    is_share = bool(np.isin(values, (0, 1)).all())
    if is_share:
        low, high = change_interval(intact, masked[:, None], groups)
    else:
        low, high = mean_interval((masked - intact)[:, None], groups)
    random = _against(masked, drawn, groups, is_share)
    return Evaluated(
        task, metric, len(groups), float(intact.mean()), float(masked.mean()), _known(low[0]), _known(high[0]),
        len(drawn), *random, too_few(groups, len(drawn) if len(drawn) else None),
    )  # fmt: skip


def _against(
    masked: Array, drawn: Array, groups: Sequence[str], is_share: bool
) -> tuple[float | None, float | None, float | None]:
    """The mean over random sets [set, item], and the interval of masked less random."""
    if not len(drawn):
        return None, None, None
    low, high = set_interval(masked, drawn, groups, is_share)
    return float(drawn.mean()), _known(low), _known(high)


def _known(bound: float) -> float | None:
    return None if np.isnan(bound) else float(bound)
