"""How sure: heads that can be told from zero, methods that agree, and certificates."""

import numpy as np

from headatlas.atlas.records import Diagnostic
from headatlas.patterns import find_consensus
from headatlas.views.known_heads import known_heads_line
from headatlas.wording import decimal
from tests.atlases import Known, measured, write_atlas
from tests.views.report.reading import report, section


def test_heads_that_are_distinguishable_from_zero_are_counted(tmp_path):
    effect = np.zeros((5, 6))
    effect[1, 2], effect[2, 3] = 9.0, -20.0
    atlas = write_atlas(tmp_path / "atlas", [measured(effect, 1.0, np.random.default_rng(3), task="A")])
    part = section(report(atlas, findings=[]), "How sure")
    sure = int((atlas.table("A")["q_value"] < 0.05).sum())
    assert "### Heads of attribute that are distinguishable from zero (q below 0.05)" in part
    assert f"- A: {sure} of 30 heads are distinguishable from zero, 1 of them with values below zero." in part


def test_what_methods_agree_on_stands_beside_chance(tmp_path):
    needed, p = np.full((5, 8), -0.1), np.ones((5, 8))
    estimated = np.zeros((5, 8))
    for head in ((1, 2), (0, 3)):
        needed[head], p[head], estimated[head] = 0.5, 1e-5, 2.0
    maps = [
        Known(needed, np.ones((5, 8)), p, method="ablate", task="A"),
        Known(estimated, method="attribute", task="A"),
    ]
    atlas = write_atlas(tmp_path / "atlas", maps)
    part = section(report(atlas, findings=[]), "Heads that at least two independent causal methods support", 3)
    chance = decimal(find_consensus(atlas).by_chance, 1)
    assert f"| A | ablate 2, attribute 2 | 2 | {chance} | L0H3, L1H2 |" in part
    rule = "- ablate (exact effects on fit and choose examples): q below 0.05, needed above zero."
    assert f"{rule} {known_heads_line('ablate')}" in part


def test_how_many_first_heads_would_be_found_again(tmp_path):
    numbers = {"first heads": 3, "first heads shared by halves": 2.25}
    entries = [Diagnostic("ablate", metric, value, "A*") for metric, value in numbers.items()]
    atlas = write_atlas(tmp_path / "atlas", [Known(np.eye(4), method="ablate", task="A*")], diagnostics=entries)
    part = section(report(atlas, findings=[]), "Would the first heads be found again?", 3)
    assert r"- ablate, A\*: Of its first 3 heads two halves of the examples share 2.2; chance gives 0.6." in part


def test_the_certificate_of_ablation(tmp_path):
    numbers = {"examples attributed": 90, "examples exact": 6, "examples left out": 3, "variance left": 0.012,
               "variance left, 30 largest": 0.11, "same sign, 30 largest": 0.93}  # fmt: skip
    entries = [Diagnostic("ablate", metric, value, "A") for metric, value in numbers.items()]
    maps = [Known(np.ones((5, 6)), np.ones((5, 6)), np.ones((5, 6)), method="ablate", task="A")]
    text = report(write_atlas(tmp_path / "atlas", maps, diagnostics=entries), findings=[])
    part = section(text, "How well attribution predicts exact effects", 3)
    assert "| task | estimated | exact | left out | variance left | 30 largest | same sign |" in part
    assert "| A | 90 | 6 | 3 | 1.2 % | 11 % | 93 % |" in part
    assert "Variance left: the part of the variance of exact effects that attribution does not explain" in part
