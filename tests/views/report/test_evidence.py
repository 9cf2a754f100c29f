"""Evidence in the report: sections by shape, settings, and no test that is known by name."""

import pytest

from headatlas.atlas.declarations import TestInfo
from headatlas.evidence import TESTS
from tests.atlases import rich_atlas
from tests.views.report.reading import report, section, test_section


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "atlas"
    return report(rich_atlas(folder, ["A", "B"], (6, 4), tested=("attribute", "gate"), draws=5), findings=[])


def test_every_test_of_every_method_says_what_it_asks_and_what_was_done(text):
    for method, rule in (("attribute", "largest needed first"), ("gate", "largest facilitation first")):
        for name, test in TESTS.items():
            if method == "attribute" and name == "order":
                continue
            part = test_section(text, name, method)
            by = rule if not test.info.needs else f"by {', '.join(test.info.needs)}"
            assert f"{test.info.question} Heads are taken by {method}, {by}." in part
            assert all(f"*{control.name}*: {control.meaning}" in part for control in test.info.controls)
    assert text.count("(order): heads chosen by") == 1


def test_the_settings_of_the_tests_are_stated_once_per_method(text):
    part = section(text, "Tested how").split("\n### ")[0]
    assert "- attribute (mask, keep, specificity, hierarchy, steer): ks 1, 2, 4, 8, 16, 32; k 16; draws 50;" in part
    assert "- gate (mask, keep, specificity, hierarchy, steer, order): " in part
    assert "scales 0.5, 1.5, 2; baseline mean; distractors yes; elbow yes; seed 0." in part


@pytest.mark.parametrize(
    ("like", "more"),
    [("mask", {}), ("keep", {}), ("specificity", {}), ("steer", {"chosen": ("steer", "scale"), "reference": None})],
)
def test_a_test_that_nobody_knows_is_shown_by_its_shape(tmp_path, like, more):
    known = TESTS[like].info
    info = TestInfo(
        name="mine", title="Mine", summary="", question="Is it?", shape=known.shape, axis=known.axis,
        headline=known.headline, **more,
    )  # fmt: skip
    mine, expected = (
        test_section(report(rich_atlas(tmp_path / name, ["A", "B"], (6, 4), methods=["attribute"], tests=[test]),
                            findings=[]), name, "attribute")
        for name, test in (("mine", info), (like, like))
    )  # fmt: skip
    assert mine.startswith("\nIs it? Heads are taken by attribute, largest needed first.\n")
    tables = [line for line in mine.splitlines() if line.startswith("|")]
    assert len(tables) > 4 and tables == [line for line in expected.splitlines() if line.startswith("|")]
