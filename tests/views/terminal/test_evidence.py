"""Tables of evidence: one for every test by its shape, under its title, its question and the rule of ranking."""

import numpy as np
import pytest

from headatlas.atlas.declarations import TestInfo
from headatlas.views.terminal import evidence_tables
from tests.atlases import HOSTILE, rewrite_evidence, rich_atlas
from tests.views.terminal.printing import cells, printed, section


def test_every_table_is_headed_by_what_was_asked_and_who_ranked_the_heads(full):
    for method, rule in (("probe", "largest information first"), ("gate", "largest facilitation first")):
        text = printed(evidence_tables(full, method))
        for test in full.run.tests:
            if test.applies_to(full.info(method)):
                part = section(text, test.name)
                assert test.title in text and part.splitlines()[1] == test.question
                by = rule if not test.needs else f"by {', '.join(test.needs)}"
                assert f"by {method}, {by}; numbers are " in part
    assert "(order)" not in printed(evidence_tables(full, "probe"))


def test_only_tests_that_were_run_are_printed(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), tests=["keep"], tested=["probe"])
    text = printed(evidence_tables(atlas, "probe"))
    assert "(keep)" in text and not any(f"({name})" in text for name in ("mask", "specificity", "hierarchy", "steer"))
    assert evidence_tables(atlas, "attribute") == []


@pytest.mark.parametrize(
    ("like", "more"),
    [("mask", {}), ("keep", {}), ("specificity", {}), ("steer", {"chosen": ("steer", "scale"), "reference": None})],
)
def test_a_test_that_nobody_knows_is_shown_by_its_shape(tmp_path, like, more):
    atlas = rich_atlas(tmp_path / "a", ["a", "b"], (6, 4), methods=["attribute"], tests=[like])
    known = atlas.run.test(like)
    info = TestInfo(
        name="mine", title="Mine", summary="", question="Is it?", shape=known.shape, axis=known.axis,
        headline=known.headline, **more,
    )  # fmt: skip
    mine = rich_atlas(tmp_path / "b", ["a", "b"], (6, 4), methods=["attribute"], tests=[info])
    text = printed(evidence_tables(mine, "attribute"))
    assert text.startswith("Mine (mine)\nIs it?\n")
    expected = section(printed(evidence_tables(atlas, "attribute")), like).splitlines()[2:]
    assert section(text, "mine").splitlines()[2:] == expected


def test_names_and_numbers_survive_a_narrow_terminal(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", HOSTILE, (6, 4), tested=["probe"], draws=3)
    text = printed(evidence_tables(atlas, "probe"), width=80)
    for name in ("mask", "keep", "specificity", "steer"):
        part = section(text, name)
        assert "[bold]not" in part and "$x_{1}^$" in part
        assert all(len(row) <= 80 for row in part.splitlines())
        # Names may be cut, numbers not.
        assert not any("…" in row[30:] for row in part.splitlines())


def test_unknown_numbers_are_dashes(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), tested=["probe"], draws=3)
    unknown = dict.fromkeys(("low", "high", "p_value", "q_value"), np.nan)
    text = printed(evidence_tables(rewrite_evidence(atlas, atlas.evidence.assign(**unknown)), "probe"))
    assert "nan" not in text
    row = cells(text, "mask", "a ")
    assert row[3] == "–" and row[-1] == "–"
