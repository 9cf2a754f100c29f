"""What the command line says of errors."""

import pytest

from headatlas.cli.messages import on_one_line


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("There is no folder a\x1b[2J.", r"There is no folder a\x1b[2J."),
        ("There is no folder a\nb.", r"There is no folder a\nb."),
        ("Größe, 大きさ, \u2028", r"Größe, 大きさ, \u2028"),
    ],
)
def test_names_with_control_characters_do_not_move_the_cursor(said, shown):
    assert on_one_line(said) == shown
