"""Help texts, built when they are printed, from what methods, tests and figures declare about themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from typer.core import TyperCommand


def with_epilog(make: Callable[[], str]) -> type[TyperCommand]:
    """A command whose epilog comes from `make`, called when its help is printed: nothing is imported before."""

    class WithEpilog(TyperCommand):
        """Prints an epilog that lists registered parts."""

        def format_epilog(self, ctx: Any, formatter: Any) -> None:
            self.epilog = "\b\n" + make().replace("\n\n", "\n\n\b\n")
            super().format_epilog(ctx, formatter)

    return WithEpilog


def listed(title: str, entries: Iterable[tuple[str, str]]) -> str:
    """A heading and one line per entry, aligned."""
    rows = list(entries)
    width = max(len(name) for name, _ in rows)
    return "\n".join([f"{title}:", *(f"  {name:<{width}}  {text}" for name, text in rows)])


def methods_list() -> str:
    """Every method with its summary."""
    from headatlas.methods import METHODS

    return listed(
        "Methods",
        (
            (name, method.info.summary + ("" if method.info.by_default else " (only when asked for)"))
            for name, method in METHODS.items()
        ),
    )


def settings_list() -> str:
    """Every method that has settings, with their names."""
    from dataclasses import fields

    from headatlas.methods import METHODS

    def names(method: Any) -> str:
        return ", ".join(field.name for field in fields(method))

    rows = [(name, names(method)) for name, method in METHODS.items() if fields(method)]  # type: ignore[arg-type]
    return listed("Settings of methods, for --set METHOD.SETTING=VALUE", rows)


def tests_list() -> str:
    """Every evidence test with its summary."""
    from headatlas.evidence import TESTS

    return listed("Tests", ((name, test.info.summary) for name, test in TESTS.items()))
