"""What holds for all kinds, and that the documentation lists them as they are."""

from pathlib import Path

from headatlas.patterns import find_patterns
from headatlas.patterns.kinds import ALL_KINDS
from tests.atlases import measured, write_atlas
from tests.patterns.injected import SHAPE

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "patterns.md"


def test_the_documentation_has_one_row_per_kind_with_its_question():
    text = DOCUMENTATION.read_text(encoding="utf-8")
    table = text.partition("## Kinds")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[:2] for line in table.splitlines() if line.startswith("| ")][1:]
    assert rows == [[f"| {kind.name}", kind.question] for kind in ALL_KINDS]


def test_an_atlas_with_everything_is_asked_every_kind(tmp_path, rng):
    maps = [
        measured(6 * rng.normal(size=SHAPE), 1.0, rng, task=task, method=method, seed=seed)
        for method in ("attribute", "ablate")
        for task in "AB"
        for seed in range(2)
    ]
    findings = find_patterns(write_atlas(tmp_path / "atlas", maps, kv_heads=4), draws=100)
    assert all(finding.p is not None for finding in findings)
    assert {finding.kind: finding.null for finding in findings} == {kind.name: kind.null for kind in ALL_KINDS}
