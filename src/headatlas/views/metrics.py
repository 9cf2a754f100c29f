"""What the metrics of evidence are called in tables and on axes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A metric of evidence: its name in sentences and axes, in narrow columns, and its unit."""

    label: str
    short: str
    unit: str = ""

    @property
    def with_unit(self) -> str:
        """The name, and the unit where there is one."""
        return f"{self.label}{f' ({self.unit})' if self.unit else ''}"

    @property
    def change(self) -> str:
        """For an axis: the change of the metric, with its unit."""
        return f"Change of {self.with_unit}"


METRICS = {
    "margin": Metric("margin", "margin", "nats"),
    "share": Metric("margin, as a share of what single heads take", "share"),
    "logprob": Metric("log-probability", "log-prob", "nats"),
    "fraction": Metric("recovered fraction", "fraction"),
    "cpr": Metric("CPR", "CPR"),
    "cmd": Metric("CMD", "CMD"),
}


def metric(name: str) -> Metric:
    """A metric by name; one that is not listed is called by its name."""
    words = name.replace("_", " ")
    return METRICS.get(name, Metric(words, words))
