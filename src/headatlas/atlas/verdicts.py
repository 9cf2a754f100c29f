"""What is said of a task after the intact model has tried it. Apart, so that readers of an atlas need no torch."""

COMPETENT, AT_CHANCE, TOO_FEW_KNOWN = "competent", "not competent", "too few known items"
