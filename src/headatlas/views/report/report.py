"""`report.md`: what an atlas says, in a terminal or a pull request. Every sentence is made from its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from headatlas.atlas.verdicts import COMPETENT
from headatlas.files import write_bytes
from headatlas.patterns import find_patterns
from headatlas.patterns.agreement import agreement, stability
from headatlas.patterns.correction import LEVEL
from headatlas.views.report.evidence import evidence_section
from headatlas.views.report.markdown import interval, number, plain, table

if TYPE_CHECKING:
    from headatlas.atlas.reading import Atlas
    from headatlas.patterns import Finding

STRONGEST = 5


def write_report(atlas: Atlas, method: str | None = None, findings: Sequence[Finding] | None = None) -> Path:
    """Write `report.md` into the atlas. Findings are worked out anew unless they are given."""
    method = atlas.choose_method(method)
    findings = find_patterns(atlas, method) if findings is None else findings
    sections = (
        _run(atlas),
        _competence(atlas),
        _strongest(atlas, method),
        _circuits(atlas),
        _diagnostics(atlas),
        evidence_section(atlas.evidence),
        _patterns(findings),
        _agreement(atlas),
        _limits(atlas, method),
    )
    path = atlas.path / "report.md"
    write_bytes(path, ("\n\n".join(filter(None, map(_joined, sections))) + "\n").encode())
    return path


def _joined(lines: Iterable[str]) -> str:
    return "\n\n".join(line for line in lines if line)


def _run(atlas: Atlas) -> list[str]:
    run, model = atlas.run, atlas.run["model"]
    kv = f" on {model['kv_heads']} kv heads" if model.get("kv_heads", model["heads"]) != model["heads"] else ""
    facts = [
        f"Model: {plain(model['name'])} ({plain(model['type'])}), {model['layers']} layers of {model['heads']} heads"
        f"{kv}, {model['dtype']} on {model['device']}, fingerprint {model['fingerprint']}."
    ]
    suite, settings = run.get("suite", {}), run.get("settings", {})
    if suite:
        examples = ", ".join(f"{count} to {split}" for split, count in suite["examples"].items())
        facts.append(
            f"Suite: {plain(suite['name'])}, {len(suite['tasks'])} tasks; examples {examples}; fingerprint "
            f"{suite['fingerprint']}."
        )
    if settings:
        methods = "; ".join(_settings(name, own) for name, own in settings["methods"].items())
        facts.append(f"Preset {plain(settings['preset'])}. Methods: {methods}.")
    if run.get("finished"):
        command = (run.get("asked") or {}).get("command")
        by = f" by {plain(command)}" if command else ""
        facts.append(
            f"Finished {run['finished']} after {run['seconds']:.0f} s{by}, headatlas {run['versions']['headatlas']}."
        )
    return [f"# Atlas of {plain(model['name'])}", "\n".join(f"- {fact}" for fact in facts)]


def _settings(name: str, own: dict[str, object]) -> str:
    return plain(name) + (f" ({plain(', '.join(f'{key} {value}' for key, value in own.items()))})" if own else "")


def _competence(atlas: Atlas) -> list[str]:
    frame = atlas.competence
    rows = [
        (plain(row.task), row.items, f"{row.accuracy:.2f}", interval(row.low, row.high, 2), f"{row.chance:.2f}",
         f"{row.logprob:.2f}", row.verdict)
        for row in frame.itertuples()
    ]  # fmt: skip
    unable = [
        f"- {plain(row.task)} is {row.verdict}: accuracy {row.accuracy:.2f} ({interval(row.low, row.high, 2)}), chance "
        f"{row.chance:.2f}. {'It is mapped all the same; its map means little.' if row.kept else 'It is not mapped.'}"
        for row in frame[frame["verdict"] != COMPETENT].itertuples()
    ]
    headings = ("task", "items", "accuracy", "95 % interval", "chance", "log-prob", "verdict")
    return ["## What the intact model can do", table(headings, rows), "\n".join(unable)]


def _strongest(atlas: Atlas, method: str) -> list[str]:
    measure = atlas.choose_measure(method)
    chosen = atlas.scores[(atlas.scores["method"] == method) & (atlas.scores["measure"] == measure)]
    seeds = sorted(chosen["seed"].unique().tolist())
    rows, sure = [], []
    for task in dict.fromkeys(chosen["task"]):
        heads = atlas.table(task, method, measure, seeds[0])
        for rank, row in enumerate(heads.head(STRONGEST).itertuples(), start=1):
            known = "" if np.isnan(row.q_value) or row.q_value < LEVEL else " (not distinguishable from zero)"
            rows.append((plain(task), rank, f"L{row.layer}H{row.head}", f"{row.value:+.4f}",
                         interval(row.low, row.high, 4, sign=True), number(row.q_value, "{:.2g}") + known))  # fmt: skip
        if heads["q_value"].notna().any():
            above = heads[heads["q_value"] < LEVEL]
            signs = f", {(above['value'] < 0).sum()} of them hurt" if (above["value"] < 0).any() else ""
            sure.append(f"- {plain(task)}: {len(above)} of {len(heads)} heads are distinguishable from zero{signs}.")
    of = f" Seed {seeds[0]} of {len(seeds)}." if len(seeds) > 1 else ""
    title = f"The {STRONGEST} largest values by size of {plain(method)}, measure {plain(measure)}.{of}"
    headings = ("task", "rank", "head", measure, "95 % interval", "q")
    return ["## Strongest heads", title, table(headings, rows), "\n".join(sure)]


def _circuits(atlas: Atlas) -> list[str]:
    """How far the seeds of gates agree on the heads that a task needs, in words."""
    table = atlas.diagnostics
    table = table[(table["method"] == "gate") & table["place"].isna()]
    lines = []
    for task, rows in table.groupby("task", sort=False):
        found = {metric: own["value"].tolist() for metric, own in rows.groupby("metric")}
        sizes, enough = found["circuit_size"], int(found["sufficient_sets"][0])
        disjoint = int(found["disjoint_sufficient_sets"][0])
        between = f"{min(sizes):.0f} to {max(sizes):.0f}" if len(sizes) > 1 else f"{sizes[0]:.0f}"
        count = f"{len(sizes)} fits" if len(sizes) > 1 else "one fit"
        said = f"- {plain(task)}: {count}, urged to close, with {between} heads left open"
        if len(sizes) > 1:
            overlap, chance = found["jaccard_mean"][0], found["jaccard_chance"][0]
            said += (
                f", {found['shared_by_all'][0]:.0f} of them in every fit; two fits share {overlap:.2f} of the heads of "
            )
            said += f"either, {chance:.2f} by chance"
        apart = f"{disjoint} of them share no head" if disjoint > 1 else "no two of them are disjoint"
        said += f". {enough} of {len(sizes)} are sufficient by themselves" + (f", {apart}." if enough > 1 else ".")
        lines.append(said)
    return ["## Circuits that gates found", "\n".join(lines)] if lines else []


def _diagnostics(atlas: Atlas) -> list[str]:
    single = atlas.diagnostics[atlas.diagnostics["place"].isna()]
    rows = []
    for (method, metric, task), own in single.groupby(["method", "metric", "task"], sort=False, dropna=False):
        low, high = (own["low"].iloc[0], own["high"].iloc[0]) if len(own) == 1 else (np.nan, np.nan)
        name = "all tasks" if pd.isna(task) else plain(task)
        rows.append((plain(method), plain(metric), name, number(own["value"].mean()), interval(low, high), len(own)))
    if not rows:
        return []
    headings = ("method", "number", "task", "value", "95 % interval", "seeds")
    return ["## What the methods report beside their maps", table(headings, rows)]


def _patterns(findings: Sequence[Finding]) -> list[str]:
    tested = [finding for finding in findings if finding.p_adjusted is not None]
    found = [finding for finding in tested if finding.supported]
    lines = [
        "## Patterns",
        f"{len(tested)} statements were tested, {len(found)} are supported. p is adjusted for all of them together: on "
        "maps of pure noise anything at all is stated in at most 5 % of atlases.",
    ]
    if found:
        lines += ["### Found", "\n".join(f"- {plain(one.statement)} (p {_p(one.p_adjusted)})" for one in found)]
    else:
        lines.append("No statement is supported by these maps.")
    if len(found) < len(tested):
        lines += ["### Not supported", "\n".join(_not_supported([one for one in tested if not one.supported]))]
    if out := [finding for finding in findings if finding.p_adjusted is None]:
        lines += ["### Not tested", "\n".join(f"- {plain(one.statement)}" for one in out)]
    return lines


def _not_supported(findings: Sequence[Finding]) -> list[str]:
    """One line a kind: what was asked of which tasks, and the sentence that came nearest."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    lines = []
    for kind, own in kinds.items():
        about = list(dict.fromkeys(one.method if kind == "agreement" else one.tasks[0] for one in own))
        of = "" if kind == "shared heads" else f" ({', '.join(map(plain, about))})"
        nearest = "Nearest: " if len(own) > 1 else ""
        lines.append(f"- {kind}{of}. {nearest}{plain(own[0].statement)} (p {_p(own[0].p_adjusted)})")
    return lines


def _p(p: float | None) -> str:
    return "" if p is None else "1" if p > 0.995 else f"{p:.2g}"


def _agreement(atlas: Atlas) -> list[str]:
    lines = []
    pairs = agreement(atlas).query("kind == 'methods'")
    if len(pairs):
        rows = [
            (plain(row.first), plain(row.second), plain(row.task), row.heads, f"{row.correlation:+.2f}",
             f"{row.shared} of {row.k}", f"{row.expected:.1f}", f"{row.p_value:.2g}")
            for row in pairs.itertuples()
        ]  # fmt: skip
        headings = (
            "method",
            "other",
            "task",
            "heads",
            "rank correlation",
            "same strongest",
            "by chance",
            "p of overlap",
        )
        lines += ["## Agreement between methods", table(headings, rows)]
    stable = stability(atlas)
    stable = stable[stable["repeat"].notna() | stable["between_seeds"].notna()]
    if len(stable):
        cells = [
            (plain(row.method), plain(row.measure), plain(row.task), number(row.between_seeds, "{:+.2f}"),
             number(row.repeat, "{:+.2f}"), number(row.half, "{:+.2f}"), number(row.repeat_overlap, "{:.1f}"))
            for row in stable.itertuples()
        ]  # fmt: skip
        lines += [
            "## Stability",
            "Rank correlations: between seeds, as measured; with as many new examples and between two halves of the "
            "examples, as the standard errors imply if heads err independently. Last: how many of the 10 strongest "
            "heads new examples would give again.",
            table(("method", "measure", "task", "between seeds", "new examples", "halves", "same of 10"), cells),
        ]
    return lines


def _limits(atlas: Atlas, method: str) -> list[str]:
    layers, heads = atlas.shape
    limits = []
    measured = atlas.scores.groupby(["method", "task"], sort=False).apply(_places, include_groups=False)
    for name, own in measured.groupby("method", sort=False):
        if own.min() < layers * heads:
            spread = f"{own.min()}" if own.min() == own.max() else f"{own.min()} to {own.max()}"
            limits.append(
                f"{plain(name)} measured {spread} of {layers * heads} heads; the others are unknown, not unimportant."
            )
    unable = [plain(task) for task, verdict in atlas.verdicts.items() if verdict != COMPETENT]
    if unable:
        limits.append(f"Nothing can be said about {', '.join(unable)}: the intact model is not shown to do it.")
    groups = atlas.run.get("groups", {}).get(method, {})
    if groups and min(groups.values()) < 30:
        fewest = min(groups, key=groups.__getitem__)
        limits.append(
            f"The errors of {plain(method)} rest on few groups of examples: {groups[fewest]} for {plain(fewest)}. "
            "Effects that are not distinguishable from zero may still be there."
        )
    if atlas.evidence.empty:
        limits.append("No intervention has tested these maps yet: `headatlas verify` does.")
    return ["## Limits", "\n".join(f"- {limit}" for limit in limits)] if limits else []


def _places(rows: pd.DataFrame) -> int:
    return len(rows[["layer", "head"]].drop_duplicates())
