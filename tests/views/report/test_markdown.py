"""Text that stays what it is."""

from headatlas.views.report.markdown import bullets, plain, table


def test_text_that_needs_no_care_is_left_alone():
    assert plain("q < 0.05 & p > 0.1, Decision-making (L3H1)") == "q < 0.05 & p > 0.1, Decision-making (L3H1)"
    assert plain("a\n# b") == "a # b"


def test_markup_is_escaped():
    assert plain("*a* `b` [c](d) <e> | &amp;") == r"\*a\* \`b\` \[c\](d) \<e> \| \&amp;"


def test_tables_and_lists():
    assert table(("a", "b"), [(1, "x")]) == "| a | b |\n| --- | --- |\n| 1 | x |"
    assert bullets(["a", "b"]) == "- a\n- b"
