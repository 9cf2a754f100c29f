"""The portrait of a head in a terminal."""

from headatlas.views.portrait import sentence
from headatlas.views.terminal.head import head_text, visible
from tests.portraits import in_task, portrait
from tests.views.terminal.printing import printed


def row(text, first):
    return next(line for line in text.splitlines() if line.startswith(first)).removeprefix(first).split()


def test_sentence_effects_and_partners():
    one = portrait()
    text = printed([head_text(one)], width=1000)
    assert text.startswith(f"L1H2 in Retrieval\n{sentence(one, one.tasks[0])}\n")
    assert row(text, "lost without the head") == ["+1.90", "+1.60", "to", "+2.20", "0.001"]
    assert row(text, "lost directly, through the final norm alone")[0] == "+0.40"
    assert row(text, "L3H0")[:5] == ["stands", "in", "for", "it", "+0.50"]
    assert row(text, "L0H2")[:3] == ["supplies", "it", "−0.70"]


def test_examples_with_and_without_the_head():
    text = printed([head_text(portrait())], width=200)
    assert "<s>The key of Ann is red. Ann's key is → red\ntwin: <s>The key of Ann is blue. Ann's key is → blue" in text
    assert "  margin +2.50, without the head +0.50\n  looks at ·red 60 %, <s> 30 %, ·is 10 %" in text
    assert "  raises directly ·red +1.50\n  lowers directly ·blue −0.75" in text
    assert "  margin +1.00, without the head +1.25" in text


def test_what_is_missing_is_left_out_and_the_reason_is_said():
    seen = in_task(direct=None, looks=None, backups=[], suppliers=[], strongest=[], weakest=[])
    text = printed([head_text(portrait(tasks=[seen], circuit=None, unavailable=["No final norm."]))], width=200)
    assert "final norm alone" not in text
    assert "where it looks from" not in text
    assert "Over the vocabulary" not in text
    assert "It neither backs up nor is supplied by L2H1, L3H0, as far as can be told." in text
    assert text.rstrip().endswith("No final norm.")


def test_spaces_and_ends_of_lines_can_be_seen():
    assert visible(" a\n") == "·a⏎"
