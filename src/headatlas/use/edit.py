"""`headatlas.edit`: an edited checkpoint that plain transformers loads, with what it saves and what it costs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.heads import choose_heads
from headatlas.atlas.records import Head
from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.evidence.trial import Trial
from headatlas.files import atomic_folder, check_new_folder
from headatlas.model.editing import RECORD, edit_weights
from headatlas.model.heads import HeadModel
from headatlas.model.loading import load, silence
from headatlas.model.pruning import prune_weights
from headatlas.model.sharing import same_logits
from headatlas.model.sizes import sizes
from headatlas.progress import Reporter
from headatlas.run.interventions import gates_scaling
from headatlas.suites.neutral.generate import TASK as NEUTRAL
from headatlas.suites.suite import Suite
from headatlas.use.cost import Cost, costs
from headatlas.use.examples import held_out, mean_of_heads, with_model
from headatlas.wording import head_name
from headatlas.workflows.held_out import model_of

BASELINES = ("zero", "mean")
TEXTS = 4  # on which the logits of the checkpoint are compared with gating


@dataclass(frozen=True)
class Edited:
    """An edited checkpoint: its folder, the factor of every changed head, how far its logits are from gating, number of
    parameters and bytes of cache for each token before and after, and what the edit costs (empty if not measured)."""

    path: Path
    factors: Mapping[Head, float]
    largest_difference: float
    parameters: tuple[int, int]
    cache: tuple[int, int]
    costs: tuple[Cost, ...]


def edit(
    out: str | Path,
    *,
    atlas: Atlas | str | Path | None = None,
    model: HeadModel | str | Path | None = None,
    mask: str | Iterable[Head] = (),
    scale: Mapping[str, float] | None = None,
    baseline: str = "zero",
    mean_over: str | None = None,
    prune: bool = False,
    cost: bool = True,
    limit: int | None = None,
    method: str | None = None,
    suite: Suite | None = None,
    load_options: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> Edited:
    """Write a copy of a model in which heads are masked, scaled or removed, as plain transformers loads it.

    The model is that of the atlas, or the one given; heads are (layer, head) pairs or a text such as "L3H1,L7H0" or,
    with an atlas, "top:16:Retrieval" by `method`. `scale` gives texts their factors. With `baseline` "mean", masked
    heads write their mean over the texts of a task of the atlas (`mean_over`, neutral text unless given), folded into
    a bias. With `prune` the heads are cut out: whole groups that share keys and values, as many in every layer.

    The checkpoint is loaded again and compared with gating before it appears under `out`, and measured on `limit`
    held-out examples of every task of the atlas and of neutral text unless `cost` is false.
    """
    reporter = reporter or Reporter()
    out = check_new_folder(Path(out))
    opened = atlas if atlas is None or isinstance(atlas, Atlas) else Atlas(atlas)
    _check_request(mask, scale, baseline, mean_over, prune, opened)
    if opened is not None:
        _heads(mask, scale, opened.shape, opened.run.model.kv_heads, opened, method)  # before a model is loaded
        model = model_of(opened, model, load_options or {}, reporter)
    elif not isinstance(model, HeadModel):
        if model is None:
            raise UsageError("Give the folder of an atlas, or a model with `model`.")
        model = load(model, reporter=reporter, **{k: v for k, v in (load_options or {}).items() if v})
    factors = _heads(mask, scale, model.shape, model.n_kv_heads, opened, method)
    with tempfile.TemporaryDirectory() as cells, atomic_folder(out) as folder:
        trial = held_out(model, Path(cells), limit, reporter, opened, suite)
        constant = torch.from_numpy(mean_of_heads(trial, mean_over or NEUTRAL)) if baseline == "mean" else None
        gates = gates_scaling(model.shape, [(frozenset([head]), factor) for head, factor in factors.items()])
        gates = gates.prod(0)
        weights = prune_weights(model, factors) if prune else edit_weights(model, gates, constant)
        with silence():
            weights.save(folder)
            edited = load(folder, dtype=model.dtype, device=str(model.device), reporter=Reporter(quiet=True))
        edited.name = out.name
        difference = _compare(trial, edited, gates, constant)
        rows = costs(trial, with_model(trial, edited)) if cost else []
        before_size, after_size = sizes(model), sizes(edited)
        done = Edited(
            out,
            factors,
            difference,
            (before_size.parameters, after_size.parameters),
            (before_size.key_values, after_size.key_values),
            tuple(rows),
        )
        record = _record(done, model, edited, baseline, mean_over, prune)
        (folder / RECORD).write_text(json.dumps(record, indent=2, allow_nan=False) + "\n")
    return done


def _check_request(
    mask: str | Iterable[Head], scale: Mapping[str, float] | None, baseline: str, mean_over: str | None, prune: bool,
    atlas: Atlas | None,
) -> None:  # fmt: skip
    if not mask and not scale:
        raise UsageError("Nothing to edit: name heads with `mask` or `scale`.")
    if baseline not in BASELINES:
        raise unknown("baseline of an edit", baseline, BASELINES)
    if mean_over is not None and baseline != "mean":
        raise UsageError("`mean_over` goes with the baseline mean.")
    tasks = [*(atlas.tasks if atlas else ()), NEUTRAL]
    if mean_over is not None and mean_over not in tasks:
        raise unknown("text for `mean_over`", mean_over, tasks)
    if prune and (scale or baseline != "zero"):
        raise UsageError("`prune` removes masked heads: it goes with `mask` alone, and with the baseline zero.")


def _heads(
    mask: str | Iterable[Head], scale: Mapping[str, float] | None, shape: tuple[int, int], kv_heads: int,
    atlas: Atlas | None, method: str | None,
) -> dict[Head, float]:  # fmt: skip
    """The factor of every head that is named; naming one twice with different factors is refused."""
    factors: dict[Head, float] = {}
    for heads, factor in [*((scale or {}).items()), *([(mask, 0.0)] if mask else [])]:
        for head in choose_heads(heads, shape, kv_heads, atlas, method):
            if factors.setdefault(head, float(factor)) != factor:
                raise UsageError(f"{head_name(*head)} is given two factors, {factors[head]:g} and {factor:g}.")
    return dict(sorted(factors.items()))


@torch.inference_mode()
def _compare(trial: Trial, edited: HeadModel, gates: torch.Tensor, constant: torch.Tensor | None) -> float:
    """The largest difference between the logits of the checkpoint and those of gating; refused where it is not
    rounding."""
    model, context = trial.context.model, trial.context
    largest = 0.0
    for example in context.examples(NEUTRAL, "evaluate")[:TEXTS]:
        ids = torch.tensor([context.encoder.prompt_ids(example.prompt)])
        with model.gate(gates, constant):
            expected = model.logits(ids)
        logits = edited.logits(ids)
        if not same_logits(logits, expected):
            raise HeadAtlasError(
                f"The edited copy of {model.name} does not compute what gating computes (logits differ by "
                f"{float((logits - expected).abs().max()):.2g}); nothing was written. The architecture "
                f"{model.model_type!r} treats its heads in a way that headatlas does not know."
            )
        largest = max(largest, float((logits.float() - expected.float()).abs().max()))
    return largest


def _record(
    done: Edited, model: HeadModel, edited: HeadModel, baseline: str, mean_over: str | None, prune: bool
) -> dict[str, Any]:
    """What edit.json says: where the checkpoint comes from, what was changed, and what was measured."""
    return {
        "original": {"name": model.name, "fingerprint": model.fingerprint()},
        "fingerprint": edited.fingerprint(),
        "pruned": prune,
        "baseline": baseline,
        "mean_over": (mean_over or NEUTRAL) if baseline == "mean" else None,
        "factors": {head_name(*head): factor for head, factor in done.factors.items()},
        "largest_difference_from_gating": done.largest_difference,
        "parameters": list(done.parameters),
        "cache_bytes_per_token": list(done.cache),
        "costs": [asdict(row) for row in done.costs],
    }
