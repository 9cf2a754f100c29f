"""`--set METHOD.SETTING=VALUE`: settings of methods, with values of the type that the method declares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_type_hints

from headatlas.errors import UsageError, unknown


def parse_settings(given: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Settings by method.

    >>> parse_settings(["probe.kind=paper", "gate.seeds=2"])
    {'probe': {'kind': 'paper'}, 'gate': {'seeds': 2}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        method, dot, setting = name.strip().partition(".")
        if not (equals and dot and method and setting):
            raise UsageError(f"--set {text!r} was given; write METHOD.SETTING=VALUE, such as probe.kind=paper.")
        settings.setdefault(method, {})[setting] = _value(method, setting, value.strip())
    return settings


def shorthand(exact: str | None, gates: str | None, top: int | None, confidence: float | None) -> list[str]:
    """`--exact`, `--gates`, `--top` and `--confidence` as settings of their methods."""
    if exact is not None and exact != "all" and not exact.isdecimal():
        raise UsageError(f"--exact {exact} was given; write a number of examples, or all.")
    if confidence is not None and top is None:
        raise UsageError(f"--confidence {confidence} was given without --top; say how many heads, such as --top 10.")
    settings = {
        "ablate.exact": exact or None,
        "gate.gates": gates or None,
        "ablate.top": top,
        "ablate.confidence": confidence,
    }
    return [f"{name}={value}" for name, value in settings.items() if value is not None]


def _value(method: str, setting: str, text: str) -> Any:
    from pydantic import TypeAdapter, ValidationError

    from headatlas.methods import METHODS

    cls: Any = METHODS[method]
    known = [field.name for field in fields(cls)]
    if setting not in known:
        raise unknown(f"setting of {method}", setting, known)
    kind = get_type_hints(cls)[setting]
    value: Any = [part.strip() for part in text.split(",") if part.strip()] if kind == tuple[str, ...] else text
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise UsageError(f"--set {method}.{setting}={text}: {error.errors()[0]['msg']}.") from None
