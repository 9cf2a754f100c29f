"""The methods, by name. Each is one class that declares itself in `info`; a new one is a file and a line here."""

from __future__ import annotations

from headatlas.methods.base import Method
from headatlas.registry import Registry

METHODS: Registry[type[Method]] = Registry(
    "method",
    {
        "attribute": "headatlas.methods.attribute:Attribute",
        "ablate": "headatlas.methods.ablate:Ablate",
        "probe": "headatlas.methods.probe.probe:Probe",
        "gate": "headatlas.methods.gate.gate:Gate",
        "contrast": "headatlas.methods.gate.contrast:Contrast",
        "repair": "headatlas.methods.repair.repair:Repair",
        "sense": "headatlas.methods.sense.sense:Sense",
        "attention": "headatlas.methods.attention:Attention",
    },
)


def register_method(method: type[Method]) -> type[Method]:
    """Add a method: a class with `info` and `measure`. It then takes part in `map`, `verify`, report, page and help.

    >>> @register_method
    ... class Mine(Method): ...
    """
    METHODS.register(method.info.name, method)
    return method
