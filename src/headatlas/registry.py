"""Named parts that are imported only when someone asks for them, and that users can add to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Generic, TypeVar

from headatlas.errors import UsageError, unknown

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Names to parts. A part is given as the object itself, or as "module:attribute" and imported when first used."""

    def __init__(self, kind: str, parts: Mapping[str, str | Part]):
        self.kind = kind
        self._parts: dict[str, str | Part] = dict(parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __getitem__(self, name: str) -> Part:
        if name not in self._parts:
            raise unknown(self.kind, name, self._parts)
        part = self._parts[name]
        if isinstance(part, str):
            module, attribute = part.split(":")
            part = self._parts[name] = getattr(import_module(module), attribute)
        return part

    def items(self) -> Iterator[tuple[str, Part]]:
        """All parts, imported."""
        for name in list(self._parts):
            yield name, self[name]

    def register(self, name: str, part: Part) -> None:
        if name in self._parts:
            raise UsageError(f"There already is a {self.kind} called {name!r}. Choose another name.")
        self._parts[name] = part

    def remove(self, name: str) -> None:
        """Forget a part that was registered."""
        del self._parts[name]
