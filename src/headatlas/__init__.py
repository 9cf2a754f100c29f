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
    from headatlas.atlas.declarations import Control, Measure, MethodInfo, TestInfo
    from headatlas.atlas.records import Evidence, HeadMap
    from headatlas.errors import HeadAtlasError
    from headatlas.evidence import register_test
    from headatlas.evidence.base import EvidenceTest
    from headatlas.evidence.trial import Trial
    from headatlas.methods import register_method
    from headatlas.methods.base import Measured, Method, effect_map
    from headatlas.model.families import Family, alias, register_family
    from headatlas.model.heads import HeadModel
    from headatlas.model.loading import load
    from headatlas.patterns import Finding, find_patterns
    from headatlas.patterns.compare import Comparison, compare
    from headatlas.process import reuse_freed_memory
    from headatlas.run.context import RunContext
    from headatlas.suites import load_suite, register_suite
    from headatlas.suites.example import Example
    from headatlas.suites.suite import Suite
    from headatlas.use.edit import Edited, edit
    from headatlas.use.evaluate import evaluate
    from headatlas.use.export import export
    from headatlas.use.steering import Steering
    from headatlas.views.figures import register_figure
    from headatlas.views.report.report import write_report
    from headatlas.workflows.look import look
    from headatlas.workflows.map import map_heads as map
    from headatlas.workflows.plan import plan_map as plan
    from headatlas.workflows.verify import verify

# Imported when first used, so that `import headatlas` loads no torch.
_PUBLIC = {
    "Atlas": "headatlas.atlas.atlas:Atlas",
    "Comparison": "headatlas.patterns.compare:Comparison",
    "Control": "headatlas.atlas.declarations:Control",
    "Edited": "headatlas.use.edit:Edited",
    "Evidence": "headatlas.atlas.records:Evidence",
    "EvidenceTest": "headatlas.evidence.base:EvidenceTest",
    "Example": "headatlas.suites.example:Example",
    "Family": "headatlas.model.families:Family",
    "Finding": "headatlas.patterns:Finding",
    "HeadAtlasError": "headatlas.errors:HeadAtlasError",
    "HeadMap": "headatlas.atlas.records:HeadMap",
    "HeadModel": "headatlas.model.heads:HeadModel",
    "Measure": "headatlas.atlas.declarations:Measure",
    "Measured": "headatlas.methods.base:Measured",
    "Method": "headatlas.methods.base:Method",
    "MethodInfo": "headatlas.atlas.declarations:MethodInfo",
    "RunContext": "headatlas.run.context:RunContext",
    "Steering": "headatlas.use.steering:Steering",
    "Suite": "headatlas.suites.suite:Suite",
    "TestInfo": "headatlas.atlas.declarations:TestInfo",
    "Trial": "headatlas.evidence.trial:Trial",
    "alias": "headatlas.model.families:alias",
    "compare": "headatlas.patterns.compare:compare",
    "edit": "headatlas.use.edit:edit",
    "effect_map": "headatlas.methods.base:effect_map",
    "evaluate": "headatlas.use.evaluate:evaluate",
    "export": "headatlas.use.export:export",
    "find_patterns": "headatlas.patterns:find_patterns",
    "load": "headatlas.model.loading:load",
    "load_suite": "headatlas.suites:load_suite",
    "look": "headatlas.workflows.look:look",
    "map": "headatlas.workflows.map:map_heads",
    "plan": "headatlas.workflows.plan:plan_map",
    "register_family": "headatlas.model.families:register_family",
    "register_figure": "headatlas.views.figures:register_figure",
    "register_method": "headatlas.methods:register_method",
    "register_suite": "headatlas.suites:register_suite",
    "register_test": "headatlas.evidence:register_test",
    "reuse_freed_memory": "headatlas.process:reuse_freed_memory",
    "verify": "headatlas.workflows.verify:verify",
    "write_report": "headatlas.views.report.report:write_report",
}
__all__ = ["Atlas", "Comparison", "Control", "Edited", "Evidence", "EvidenceTest", "Example", "Family", "Finding", "HeadAtlasError", "HeadMap", "HeadModel", "Measure", "Measured", "Method", "MethodInfo", "RunContext", "Steering", "Suite", "TestInfo", "Trial", "alias", "compare", "edit", "effect_map", "evaluate", "export", "find_patterns", "load", "load_suite", "look", "map", "plan", "register_family", "register_figure", "register_method", "register_suite", "register_test", "reuse_freed_memory", "verify", "write_report"]  # fmt: skip # noqa: E501


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("headatlas")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'headatlas' has no attribute {name!r}")
    module, attribute = _PUBLIC[name].split(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC, "__version__"])
