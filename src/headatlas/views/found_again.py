"""How many of the first heads would be found again, in one sentence per map."""

from __future__ import annotations

from headatlas.patterns.found_again import FoundAgain
from headatlas.wording import count, decimal


def found_again_sentence(found: FoundAgain) -> str:
    """Without the names of method and task, which stand beside it."""
    parts = []
    if found.halves is not None:
        parts.append(f"two halves of the examples share {decimal(found.halves, 1)}")
    if found.without_worst is not None:
        parts.append(
            f"without any one of {count(found.wordings, 'wording')} at least {found.without_worst:.0f} stay "
            f"({decimal(found.without_one, 1)} on average)"
        )
    if found.between_seeds is not None:
        parts.append(f"two of {found.seeds} seeds share {decimal(found.between_seeds, 1)}")
    if found.repeat is not None:
        parts.append(f"new examples would give about {decimal(found.repeat, 1)} again, by the standard errors")
    first = f"Of its first {found.k} heads" if found.k > 1 else "Of its first head"
    return f"{first} {'; '.join(parts)}; chance gives {decimal(found.by_chance, 1)}."
