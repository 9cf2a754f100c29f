"""One meaning, one colour; those that must be told apart differ in lightness or hue under any colour vision."""

import re

from headatlas.methods.gate.roles import ROLES as ROLE_NAMES
from headatlas.views import colours


def test_every_role_has_a_colour_and_a_light_of_its_own():
    for palette in (colours.ROLES, colours.ROLE_LIGHTS):
        assert set(palette) == {*ROLE_NAMES, "both"}
        assert len(set(palette.values())) == 4
        assert all(re.fullmatch("#[0-9a-f]{6}", code) for code in palette.values())


def blue_yellow(code):
    """How blue or yellow a colour is, and how light: what remains where red and green look alike."""
    red, green, blue = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return (red + green) / 2 - blue, 0.3 * red + 0.59 * green + 0.11 * blue


def test_facilitation_and_interference_differ_without_red_and_green():
    (hue, light), (other_hue, other_light) = (blue_yellow(colours.ROLES[r]) for r in ("facilitation", "interference"))
    assert abs(hue - other_hue) > 0.3 or abs(light - other_light) > 0.3
