"""`report.md`: what an atlas says, in a terminal or a pull request. Every sentence is made from its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from headatlas.atlas.records import COMPETENT
from headatlas.files import write_bytes
from headatlas.patterns import find_patterns
from headatlas.views.report.evidence import evidence_section
from headatlas.views.report.maps import maps_section
from headatlas.views.report.markdown import bullets, plain, table
from headatlas.views.report.methods import diagnostics_section, notes_section
from headatlas.views.report.patterns import agreement_section, patterns_section, stability_section
from headatlas.wording import count, decimal, interval

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding

FEW_GROUPS = 30


def write_report(atlas: Atlas, method: str | None = None, findings: Sequence[Finding] | None = None) -> Path:
    """Write `report.md` into the atlas. Findings are worked out anew unless they are given."""
    method = atlas.choose_method(method)
    findings = find_patterns(atlas, method) if findings is None else findings
    sections = (
        _run(atlas),
        _competence(atlas),
        maps_section(atlas, method),
        notes_section(atlas),
        diagnostics_section(atlas),
        evidence_section(atlas),
        patterns_section(findings),
        agreement_section(atlas),
        stability_section(atlas),
        _limits(atlas, method),
    )
    path = atlas.path / "report.md"
    write_bytes(path, ("\n\n".join(filter(None, map(_joined, sections))) + "\n").encode())
    return path


def _joined(lines: Iterable[str]) -> str:
    return "\n\n".join(line for line in lines if line)


def _run(atlas: Atlas) -> list[str]:
    run, model, suite = atlas.run, atlas.run.model, atlas.run.suite
    kv = f" on {model.kv_heads} kv heads" if model.kv_heads != model.heads else ""
    examples = ", ".join(f"{number} to {split}" for split, number in suite.examples.items())
    methods = "; ".join(_settings(name, settings) for name, settings in run.settings.methods.items())
    facts = [
        f"Model: {plain(model.name)} ({plain(model.type)}), {model.layers} layers of {model.heads} heads{kv}, "
        f"{model.dtype} on {model.device}, fingerprint {model.fingerprint}.",
        f"Suite: {plain(suite.name)}, {count(len(suite.tasks), 'task')}; examples {examples}; fingerprint "
        f"{suite.fingerprint}.",
        f"Preset {plain(run.settings.preset)}. Methods: {methods}.",
    ]
    if run.finished and run.seconds is not None:
        command = f" by {plain(run.asked.command)}" if run.asked.command else ""
        version = f", headatlas {run.versions['headatlas']}" if "headatlas" in run.versions else ""
        facts.append(f"Finished {run.finished} after {run.seconds:.0f} s{command}{version}.")
    return [f"# Atlas of {plain(model.name)}", bullets(facts)]


def _settings(name: str, settings: Mapping[str, object]) -> str:
    values = plain(", ".join(f"{key} {value}" for key, value in settings.items()))
    return plain(name) + (f" ({values})" if settings else "")


def _competence(atlas: Atlas) -> list[str]:
    frame = atlas.competence
    rows = [
        (plain(row.task), row.items, decimal(row.accuracy), interval(row.low, row.high), decimal(row.chance),
         decimal(row.logprob), row.verdict)
        for row in frame.itertuples()
    ]  # fmt: skip
    unable = [
        f"{plain(row.task)} is {row.verdict}: accuracy {decimal(row.accuracy)} ({interval(row.low, row.high)}), chance "
        f"{decimal(row.chance)}. "
        f"{'It is mapped all the same; its map means little.' if row.mapped else 'It is not mapped.'}"
        for row in frame[frame["verdict"] != COMPETENT].itertuples()
    ]
    headings = ("task", "items", "accuracy", "95 % interval", "chance", "log-prob", "verdict")
    return ["## What the intact model can do", table(headings, rows), bullets(unable)]


def _limits(atlas: Atlas, method: str) -> list[str]:
    limits = _unmeasured(atlas)
    unable = [plain(task) for task, verdict in atlas.verdicts.items() if verdict != COMPETENT]
    if unable:
        limits.append(f"Nothing can be said about {', '.join(unable)}: the intact model is not shown to do it.")
    groups = atlas.scores[(atlas.scores["method"] == method) & atlas.scores["stderr"].notna()]
    groups = groups.groupby("task", sort=False)["groups"].min()
    if len(groups) and groups.min() < FEW_GROUPS:
        limits.append(
            f"The errors of {plain(method)} rest on few groups of examples: {groups.min()} for "
            f"{plain(groups.idxmin())}. Effects that are not distinguishable from zero may still be there."
        )
    if atlas.evidence.empty:
        limits.append("No intervention has tested these maps yet: `headatlas verify` does.")
    return ["## Limits", bullets(limits)] if limits else []


def _unmeasured(atlas: Atlas) -> list[str]:
    """One sentence for every method that did not measure all heads."""
    every = atlas.shape[0] * atlas.shape[1]
    by_map = atlas.scores.groupby(["method", "task"], sort=False).apply(_heads, include_groups=False)
    sentences = []
    for name, heads in by_map.groupby("method", sort=False):
        if heads.min() < every:
            measured = f"{heads.min()}" if heads.min() == heads.max() else f"{heads.min()} to {heads.max()}"
            sentences.append(
                f"{plain(name)} measured {measured} of {every} heads; the others are unknown, not unimportant."
            )
    return sentences


def _heads(rows: pd.DataFrame) -> int:
    return len(rows[["layer", "head"]].drop_duplicates())
