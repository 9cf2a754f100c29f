"""In what the numbers of a map are: the metric that was measured, and what replaced a head, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.views.metrics import metric

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas
    from headatlas.atlas.declarations import Measure
    from headatlas.atlas.run_record import Quantity

BASELINES = {
    "twin": "the twin",
    "pair": "a lent twin",
    "mean": "the mean of the head",
    "zero": "zero",
    "resample": "another example",
}
DIFFER = "metric and baseline differ between tasks"


def quantity_words(quantity: Quantity) -> str:
    """Such as "margin, against the twin"."""
    return f"{metric(quantity.metric).label}, against {BASELINES.get(quantity.baseline, quantity.baseline)}"


def task_notes(atlas: Atlas, method: str) -> dict[str, str]:
    """What was measured of each task, where tasks differ; nothing where one sentence holds for all."""
    used = atlas.run.quantities.get(method, {})
    return {task: quantity_words(quantity) for task, quantity in used.items()} if len(set(used.values())) > 1 else {}


def measure_of(atlas: Atlas, method: str, name: str, task: str | None = None) -> Measure:
    """A measure of a method whose unit says in what it was measured: for one task, or for all that the method mapped.

    As the method declares it where the run does not say what was measured.
    """
    measure = atlas.info(method).measure(name)
    quantities = atlas.run.quantities.get(method, {})
    used = {quantities[t] for t in ([task] if task else atlas.tasks_of(method)) if t in quantities}
    if not used:
        return measure
    words = quantity_words(next(iter(used))) if len(used) == 1 else DIFFER
    joint = " of " if measure.unit == "nats" and len(used) == 1 else "; "
    return measure.model_copy(update={"unit": f"{measure.unit}{joint}{words}" if measure.unit else words})
