"""Findings, agreement and stability in words."""

from dataclasses import replace

from headatlas.patterns.agreement import agreement, stability
from headatlas.wording import decimal, p_value, signed
from tests.atlases import made_up_findings, rich_atlas
from tests.views.report.reading import report, section


def test_findings_by_their_verdict(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["A", "B"], (6, 4), methods=["attribute"], tested=[])
    findings = made_up_findings()
    untested = replace(findings[0], p=None, p_adjusted=None, supported=False, statement="Too few layers.")
    text = report(atlas, findings=[*findings, untested])
    supported = section(section(text, "What each head is for"), "What the maps show beyond chance", 3)
    assert "5 statements were tested, 3 are supported." in supported and "at most 5 % of atlases" in supported
    assert f"- {findings[0].statement} (p 0.004)" in supported and "Neighbouring" not in supported
    not_shown = section(text, "What is not shown")
    not_supported = section(not_shown, "Statements that are not supported", 3)
    assert not_supported.strip().splitlines() == [
        "- neighbours (Inference, Retrieval). Nearest: Neighbouring heads of Inference are alike. (p 0.62)"
    ]
    assert section(not_shown, "Statements that could not be tested", 3).strip() == "- Too few layers."


def test_nothing_supported_is_said(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["A", "B"], (6, 4), methods=["attribute"], tested=[])
    text = section(report(atlas, findings=[]), "What the maps show beyond chance", 3)
    assert "0 statements were tested, 0 are supported." in text and "No statement is supported by these maps." in text


def test_agreement_and_stability_are_those_of_the_atlas(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["A", "B"], (6, 4), tested=[])
    text = report(atlas, findings=[])
    pair = agreement(atlas).query("kind == 'methods'").iloc[0]
    assert (
        f"| {pair['first']} | {pair['second']} | {pair['task']} | {pair['heads']} | {signed(pair['correlation'])} | "
        f"{pair['shared']} of {pair['k']} | {decimal(pair['expected'], 1)} | {p_value(pair['p_value'])} |"
    ) in section(text, "Agreement between methods", 3)
    row = stability(atlas).iloc[0]
    assert (
        f"| {row['method']} | {row['measure']} | {row['task']} | {signed(row['between_seeds'])} | "
        f"{signed(row['repeat'])} | {signed(row['half'])} | {decimal(row['repeat_overlap'], 1)} |"
    ) in section(text, "Stability", 3)
