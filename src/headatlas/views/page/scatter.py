"""The two measures that the scatter of the page shows first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas


def describe_axes(atlas: Atlas) -> list[tuple[str, str]]:
    """Method and measure of x and y: what the default method ranks by, and what another one ranks by, if possible one
    of the same kind. Where there is no other, the next measure of the same method; empty where there is only one."""
    if not atlas.methods:
        return []
    default = atlas.info(atlas.choose_method())
    others = [atlas.info(method) for method in atlas.methods if method != default.name]
    others.sort(key=lambda info: info.kind != default.kind)
    second = [(info.name, info.primary) for info in others]
    second += [(default.name, measure) for measure in atlas.measures_of(default.name) if measure != default.primary]
    return [(default.name, default.primary), second[0]] if second else []
