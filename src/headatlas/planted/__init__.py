"""Models whose heads are known, made by code, with tasks and the truth about them: what headatlas is tested on.

A planted model is one file in `models` and one line here.
"""

from __future__ import annotations

from headatlas.planted.base import Planted
from headatlas.registry import Registry

PLANTED: Registry[Planted] = Registry(
    "planted model",
    {
        "induction": "headatlas.planted.models.induction:MODEL",
        "retrieval": "headatlas.planted.models.retrieval:MODEL",
        "shared": "headatlas.planted.models.shared:MODEL",
        "backup": "headatlas.planted.models.backup:MODEL",
        "harmful": "headatlas.planted.models.harmful:MODEL",
        "loud": "headatlas.planted.models.loud:MODEL",
        "saturated": "headatlas.planted.models.saturated:MODEL",
        "null": "headatlas.planted.models.null:MODEL",
    },
)
