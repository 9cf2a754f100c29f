"""headatlas maps what every attention head of a language model is for, and tests it.

>>> import headatlas as ha
>>> model = ha.load("smollm2")
>>> atlas = ha.map(model, "cognitive", out="atlas")
>>> atlas.plot("importance")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.errors import HeadAtlasError
    from headatlas.evidence import register_test
    from headatlas.methods import register_method
    from headatlas.model.families import Family, alias, register_family
    from headatlas.model.heads import HeadModel
    from headatlas.model.loading import load
    from headatlas.patterns import Finding, find_patterns
    from headatlas.suites import load_suite, register_suite
    from headatlas.suites.example import Example
    from headatlas.suites.suite import Suite
    from headatlas.views.report.report import write_report
    from headatlas.workflows.map import map_heads as map
    from headatlas.workflows.verify import verify

    __version__: str

# Imported when first used, so that `import headatlas` loads no torch.
_PUBLIC = {
    "Atlas": "headatlas.atlas.atlas:Atlas",
    "Example": "headatlas.suites.example:Example",
    "Family": "headatlas.model.families:Family",
    "Finding": "headatlas.patterns:Finding",
    "HeadAtlasError": "headatlas.errors:HeadAtlasError",
    "HeadModel": "headatlas.model.heads:HeadModel",
    "Suite": "headatlas.suites.suite:Suite",
    "alias": "headatlas.model.families:alias",
    "find_patterns": "headatlas.patterns:find_patterns",
    "load": "headatlas.model.loading:load",
    "load_suite": "headatlas.suites:load_suite",
    "map": "headatlas.workflows.map:map_heads",
    "register_family": "headatlas.model.families:register_family",
    "register_method": "headatlas.methods:register_method",
    "register_suite": "headatlas.suites:register_suite",
    "register_test": "headatlas.evidence:register_test",
    "verify": "headatlas.workflows.verify:verify",
    "write_report": "headatlas.views.report.report:write_report",
}
__all__ = ["Atlas", "Example", "Family", "Finding", "HeadAtlasError", "HeadModel", "Suite", "alias", "find_patterns", "load", "load_suite", "map", "register_family", "register_method", "register_suite", "register_test", "verify", "write_report"]  # fmt: skip # noqa: E501


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("headatlas")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'headatlas' has no attribute {name!r}")
    module, attribute = _PUBLIC[name].split(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
