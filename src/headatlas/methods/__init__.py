"""The registry of methods: names to `module:Class`, imported only when one is asked for."""

from __future__ import annotations

from importlib import import_module

from headatlas.errors import unknown

METHODS = {
    "attribute": "headatlas.methods.attribute:Attribute",
    "ablate": "headatlas.methods.ablate:Ablate",
    "probe": "headatlas.methods.probe.probe:Probe",
    "gate": "headatlas.methods.gate.gate:Gate",
}


def method_class(name: str) -> type:
    """The dataclass behind a method's name; its fields are the method's settings."""
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    module, cls = METHODS[name].split(":")
    return getattr(import_module(module), cls)
