"""Whether the rounding of half precision is small beside the effects of an atlas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headatlas.wording import significant

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

SMALL = 0.1  # of the median effect
PRECISE = ("float32", "float64")


def rounding_warning(atlas: Atlas) -> str | None:
    """A sentence where rounding is not small beside the effects, or was not measured; None where there is nothing to
    warn of."""
    dtype, noise = atlas.run.model.dtype, atlas.run.rounding
    if dtype in PRECISE:
        return None
    advice = "Map again with `--dtype float32` where single heads matter."
    if noise is None:
        return f"Computed in {dtype}, and what rounding adds to effects was not measured. {advice}"
    method, effect = _median_effect(atlas)
    if effect is None or noise <= SMALL * effect:
        return None
    return (
        f"Computed in {dtype}: rounding moves the effect of a head on one example by {significant(noise, 2)} nats "
        f"(root mean square), and the median effect of a head by {method} is {significant(effect, 2)} nats. {advice}"
    )


def _median_effect(atlas: Atlas) -> tuple[str, float | None]:
    """Over all heads and tasks, of the first method that measures importance in nats."""
    for info in atlas.run.methods:
        if info.kind == "importance" and any(m.name == info.primary and m.unit == "nats" for m in info.measures):
            scores = atlas.scores
            values = scores[(scores["method"] == info.name) & (scores["measure"] == info.primary)]["value"]
            if len(values):
                return info.name, float(np.nanmedian(np.abs(values)))
    return "", None
