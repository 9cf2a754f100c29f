"""What the page shows, as plain data, small enough to travel inside the page.

Everything is computed here; scripts look up what the reader chose, and draw it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from headatlas.methods.gate.roles import OPEN
from headatlas.stats import LEVEL
from headatlas.views.colours import ROLES, VIRIDIS
from headatlas.views.page import about
from headatlas.views.page.agreement import (
    describe_agreement,
    describe_found_again,
    describe_notes,
    describe_nulls,
    describe_reported,
)
from headatlas.views.page.compare import describe_comparison
from headatlas.views.page.consensus import describe_consensus
from headatlas.views.page.encoding import plain
from headatlas.views.page.evidence import describe_evidence
from headatlas.views.page.functions import describe_functions, describe_marks
from headatlas.views.page.heads import HEADS_BYTES, describe_graphs, describe_heads
from headatlas.views.page.maps import SeedMaps, describe_maps, describe_ranks, describe_scales, read_seed_maps
from headatlas.views.page.scatter import describe_axes

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.patterns import Finding
    from headatlas.patterns.compare import Comparison

NEITHER = "#111316"  # a head that has neither role, on the maps of the page


def describe_page(
    atlases: Sequence[Atlas],
    findings: Sequence[Sequence[Finding]] = (),
    downloads: Sequence[Sequence[str]] = (),
    comparison: Comparison | None = None,
) -> dict[str, Any]:
    """One or two atlases as JSON-ready data. Colour scales are common to both."""
    seed_maps = [read_seed_maps(atlas) for atlas in atlases]
    marks = describe_marks(atlases)
    functions = [mark["task"] for mark in marks]
    return {
        "version": version("headatlas"),
        "level": LEVEL,
        "open": OPEN,
        "viridis": VIRIDIS,
        "line_colours": ROLES,
        "functions": marks,
        "role_colours": [("neither", NEITHER), *((role, ROLES[role]) for role in (*about.ROLE_PAIR, "both"))],
        **describe_scales(seed_maps),
        "comparison": describe_comparison(comparison) if comparison is not None else None,
        "atlases": [
            describe(
                atlas,
                seed_maps[i],
                functions,
                findings[i] if i < len(findings) else (),
                downloads[i] if i < len(downloads) else (),
                HEADS_BYTES // len(atlases),
            )
            for i, atlas in enumerate(atlases)
        ],
    }


def describe(
    atlas: Atlas,
    seed_maps: Sequence[SeedMaps],
    functions: Sequence[str],
    findings: Sequence[Finding] = (),
    files: Sequence[str] = (),
    heads_bytes: int = HEADS_BYTES,
) -> dict[str, Any]:
    """One atlas. Maps hold the heads in the order layer * heads + head; `functions` names those of the page."""
    evidence = describe_evidence(atlas)
    tests = list(dict.fromkeys(outcome["test"] for outcome in evidence))
    return {
        "folder": atlas.path.resolve().name,
        "model": about.describe_model(atlas),
        "headline": about.describe_headline(atlas, tests),
        "tasks": about.describe_tasks(atlas),
        "methods": [about.describe_method(atlas, atlas.info(method)) for method in atlas.methods],
        "default_method": atlas.choose_method() if atlas.methods else None,
        "functions": describe_functions(atlas, functions),
        "maps": describe_maps(seed_maps),
        "ranks": list(describe_ranks(atlas, seed_maps)),
        "axes": describe_axes(atlas),
        "portraits": describe_heads(atlas, heads_bytes),
        "graphs": describe_graphs(atlas),
        "descriptions": about.describe_descriptions(atlas),
        "nulls": describe_nulls(atlas),
        "findings": [] if atlas.run.pending else [_finding(finding) for finding in findings],
        "evidence": evidence,
        "competence": about.describe_competence(atlas),
        "audit": about.describe_audit(atlas),
        "agreement": describe_agreement(atlas),
        "found_again": describe_found_again(atlas),
        "consensus": describe_consensus(atlas),
        "notes": describe_notes(atlas),
        "reported": describe_reported(atlas),
        "run": about.describe_run(atlas),
        "files": list(files),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    texts = {name: getattr(finding, name) for name in ("kind", "method", "measure", "statement", "null", "supported")}
    numbers = {name: plain(getattr(finding, name)) for name in ("value", "effect", "p", "p_adjusted")}
    return {**texts, **numbers, "tasks": list(finding.tasks), "heads": [list(head) for head in finding.heads]}
