import pytest

from headatlas.suites.options import any_cut_short, is_cut_short


@pytest.mark.parametrize(
    ("first", "second", "is_cut"),
    [
        (" 5", " 57", True),
        (" 57", " 5", True),
        (" New", " New York", True),
        ("yes", "yes.", True),
        (" 5", "57", True),  # the space does not matter
        (" dig", " digs", False),  # forms of a word
        (" red", " blue", False),
        (" 5", " 15", False),
        (" red", " red", False),
    ],
)
def test_a_text_cut_off_at_a_word_or_within_a_number(first, second, is_cut):
    assert is_cut_short(first, second) == is_cut


def test_any_two_of_several():
    assert any_cut_short([" 1", " 2", " 10"])
    assert not any_cut_short([" 1", " 2", " 30"]) and not any_cut_short([" 1"])
