"""How well the probe tells the tasks apart, beside what can be told without the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headatlas.views.notes.note import Note
from headatlas.views.rows import only
from headatlas.wording import decimal, interval, signed

if TYPE_CHECKING:
    from headatlas.atlas.atlas import Atlas

NAMES = {"accuracy": "probe of all heads", "shuffled accuracy": "probe, shuffled labels"}
TEXT = "text "  # begins the names of classifiers that see only the text


def accuracy_note(atlas: Atlas) -> Note | None:
    """None where the atlas has no accuracy of a probe."""
    entries = only(atlas.diagnostics, method="probe", seed=0)
    entries = entries[entries["task"].isna()].set_index("metric")
    if "accuracy" not in entries.index:
        return None
    texts = [name for name in entries.index if name.startswith(TEXT)]
    rows = []
    for metric in ("accuracy", *texts, "shuffled accuracy", "majority"):
        if metric in entries.index:
            entry = entries.loc[metric]
            name = f"{metric.removeprefix(TEXT)}, text alone" if metric in texts else NAMES.get(metric, metric)
            band = interval(entry["low"], entry["high"])
            if metric == "shuffled accuracy":
                band = interval(entry["null_low"], entry["null_high"])
            rows.append((name, decimal(entry["value"]), band, ""))
    if "gain over text" in entries.index:
        gain, low, high = entries.loc["gain over text", ["value", "low", "high"]]
        rows.append(("gain over text", signed(gain), interval(low, high, sign=True), _verdict(low, high)))
    columns = ("", "accuracy (share)", "95 % interval", "")
    return Note("Telling the tasks apart by what the heads write", columns, tuple(rows))


def _verdict(low: float, high: float) -> str:
    """What the interval of the gain over the text allows to say."""
    if low > 0:
        return "better than the text alone"
    return "worse than the text alone" if high < 0 else "no better than the text alone"
