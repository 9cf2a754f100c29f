"""`report.md`: what an atlas says, in a terminal or a pull request. Every sentence is made from its numbers.

It tells one story: what the model can do, what each head is for, how sure that is, how it was tested, and what is not
shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headatlas.files import write_bytes
from headatlas.patterns import find_patterns
from headatlas.views.pending import pending_words
from headatlas.views.report.competence import competence_chapter
from headatlas.views.report.evidence import evidence_chapter
from headatlas.views.report.functions import functions_lines
from headatlas.views.report.maps import maps_lines
from headatlas.views.report.markdown import bullets, plain
from headatlas.views.report.not_shown import not_shown_chapter
from headatlas.views.report.patterns import supported_lines
from headatlas.views.report.sure import sure_chapter
from headatlas.wording import count, listed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding


def write_report(atlas: Atlas, method: str | None = None, findings: Sequence[Finding] | None = None) -> Path:
    """Write `report.md` into the atlas. Findings are worked out anew unless they are given, and left out as long as
    maps are still to come."""
    chapters = [_run(atlas), competence_chapter(atlas)]
    if atlas.methods:
        chapters += _about_maps(atlas, atlas.choose_method(method), findings)
    chapters.append(_settings(atlas))
    path = atlas.path / "report.md"
    write_bytes(path, ("\n\n".join(filter(None, map(_joined, chapters))) + "\n").encode())
    return path


def _about_maps(atlas: Atlas, method: str, findings: Sequence[Finding] | None) -> list[list[str]]:
    if atlas.run.pending:
        findings = []
    elif findings is None:
        findings = find_patterns(atlas, method)
    what_for = [
        "## What each head is for",
        *functions_lines(atlas),
        *([] if atlas.run.pending else supported_lines(findings)),
        *maps_lines(atlas, method),
    ]
    return [
        what_for,
        sure_chapter(atlas, method),
        evidence_chapter(atlas),
        not_shown_chapter(atlas, method, findings),
    ]


def _joined(lines: Iterable[str]) -> str:
    return "\n\n".join(line for line in lines if line)


def _run(atlas: Atlas) -> list[str]:
    run, model, suite = atlas.run, atlas.run.model, atlas.run.suite
    kv = f" on {model.kv_heads} kv heads" if model.kv_heads != model.heads else ""
    examples = ", ".join(f"{number} to {split}" for split, number in suite.examples.items())
    facts = [
        f"Model: {plain(model.name)} ({plain(model.type)}), {model.layers} layers of {model.heads} heads{kv}, "
        f"{model.dtype} on {model.device}, fingerprint {model.fingerprint}.",
        f"Suite: {plain(suite.name)}, {count(len(suite.tasks), 'task')}; examples {examples}; fingerprint "
        f"{suite.fingerprint}.",
        f"Preset {plain(run.settings.preset)}. Methods: {plain(listed(run.settings.methods))}; their settings stand at "
        "the end.",
    ]
    if run.finished and run.seconds is not None:
        command = f" by {plain(run.asked.command)}" if run.asked.command else ""
        version = f", headatlas {run.versions['headatlas']}" if "headatlas" in run.versions else ""
        facts.append(f"Finished {run.finished} after {run.seconds:.0f} s{command}{version}.")
    return [
        f"# Atlas of {plain(model.name)}",
        f"**{plain(pending_words(run))}**" if run.pending else "",
        bullets(facts),
    ]


def _settings(atlas: Atlas) -> list[str]:
    """What every method was asked for, last because few will read it; what follows from the examples is left out."""
    lines = []
    for name, settings in atlas.run.settings.methods.items():
        values = ", ".join(f"{key} {value}" for key, value in settings.items() if value is not None)
        lines.append(plain(f"{name}: {values or 'none'}."))
    return ["## Settings", bullets(lines)]
