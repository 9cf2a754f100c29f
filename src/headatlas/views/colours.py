"""The colours of figures, page and terminal, as hex codes: one meaning, one colour."""

from __future__ import annotations

# Okabe and Ito: distinct with any colour vision.
VERMILION, BLUE, GREEN, PURPLE, ORANGE, SKY, YELLOW = (
    "#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442",
)  # fmt: skip

TOP, LOWEST, RANDOM = VERMILION, BLUE, "#5f5f5f"  # heads that a map chose, its last ones, random ones
UNMEASURED, QUIET, LINE, STRIPE = "#d9d9d9", "#555555", "#9a9a9a", "#f3f3f3"
SERIES = (BLUE, GREEN, PURPLE, ORANGE, SKY)  # further series, in this order

# The role that gates give to a head, in lines, bars, maps of one role, legends and on the page.
ROLES = {"facilitation": GREEN, "interference": VERMILION, "both": YELLOW, "irrelevance": "#6b6b6b"}
# The published form of the roles figure adds light: facilitation is the green channel and interference the red one, so
# that a head with both is yellow and one with neither black.
ROLE_LIGHTS = {"facilitation": "#00ff00", "interference": "#ff0000", "both": "#ffff00", "irrelevance": "#000000"}

# Anchors of viridis, dark to bright; colours between them are mixed.
VIRIDIS = (
    "#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6dcd59", "#b4de2c", "#fde725",
)  # fmt: skip
