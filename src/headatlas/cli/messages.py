"""Errors of the library in the words of the command line: a `parameter` becomes its --flag, on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Parameters of the library whose flags have another name.
RENAMED = {"methods": "--method", "tasks": "--task", "tests": "--test", "ks": "-k", "settings": "--set",
           "distractors": "--no-distractors"}  # fmt: skip


def in_flags(message: str, command: Any) -> str:
    """The message with every `parameter` that is an option of the command line written as its flag.

    >>> in_flags("Choose another `out`.", app)
    'Choose another --out.'
    """
    flags = dict(_flags(command)) | RENAMED
    return re.sub(r"`(\w+)`", lambda match: flags.get(match[1], match[0]), message)


def on_one_line(message: str) -> str:
    r"""The message with everything that moves the cursor written out: a name may hold any character.

    >>> on_one_line("There is no folder a\x1b[2J.")
    'There is no folder a\\x1b[2J.'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def _flags(command: Any) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        if parameter.param_type_name == "option":
            yield parameter.name, max(parameter.opts, key=len)
    for child in getattr(command, "commands", {}).values():
        yield from _flags(child)
