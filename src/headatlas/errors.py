"""The one exception type that users see, and the sentence for a name nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HeadAtlasError(Exception):
    """Something the user can act on: what was asked, what was found, what to do.

    The command line prints the message alone, without a traceback.
    """


class UsageError(HeadAtlasError):
    """The request itself is wrong: an unknown name, an impossible option. Exit code 2."""


class Interrupted(HeadAtlasError):
    """The user pressed Ctrl-C; the message says how to go on. Exit code 130."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that is not registered: near matches first, then the whole list."""
    names = list(known)
    folded = {known_name.casefold(): known_name for known_name in names}
    asked = name.casefold()
    near = [folded[match] for match in get_close_matches(asked, folded, n=3, cutoff=0.5)]
    near = near or [folded[match] for match in folded if asked and asked in match][:3]
    hint = f" Did you mean {' or '.join(repr(match) for match in near)}?" if near else ""
    return UsageError(f"Unknown {kind} {name!r}.{hint} Known: {', '.join(names)}.")
