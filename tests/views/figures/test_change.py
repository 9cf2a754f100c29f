"""One change per task and intervention, on the task and on neutral text."""

import numpy as np
import pytest

from headatlas.views.figures import draw
from tests.atlases import COGNITIVE, rewrite_evidence, rich_atlas
from tests.views.figures.reading import change_intervals, evidence_rows, intervals, line

SERIES = [("steer", "steer", None), ("scale × 0.5", "scale", 0.5), ("scale × 1.5", "scale", 1.5), ("scale × 2", "scale", 2)]  # fmt: skip # noqa: E501


@pytest.mark.parametrize(("label", "control", "factor"), SERIES)
def test_gains_on_the_task_and_costs_on_neutral_text(full, label, control, factor):
    columns = draw(full, "steer").axes
    assert [axes.get_title() for axes in columns] == [
        "Accuracy\non the task",
        "Log-probability\non the task (nats)",
        "Log-probability\non neutral text (nats)",
    ]
    for axes, metric, neutral in zip(columns, ("accuracy", "logprob", "logprob"), (False, False, True), strict=True):
        rows = evidence_rows(full, test="steer", method="probe", control=control, metric=metric)
        rows = rows[(rows["eval_task"] == "Neutral") == neutral]
        rows = rows if factor is None else rows[rows["factor"] == factor]
        change, heights = line(axes, label)
        np.testing.assert_allclose(change, rows["value"] - rows["intact"])
        assert [round(height) for height in heights] == [COGNITIVE.index(task) for task in rows["task"]]
        assert change_intervals(rows, heights) <= intervals(axes)


def test_the_factor_of_each_task_stands_below_its_name(full):
    names = [label.get_text() for label in draw(full, "steer").axes[0].get_yticklabels()]
    alpha = evidence_rows(full, test="steer", method="probe", task="Retrieval", control="steer")["factor"].iloc[0]
    assert names[1] == f"Retrieval\nsteer × {alpha:g}"
    assert names[2] == "Logical Reasoning\nno steer"


def test_an_intervention_looks_the_same_whatever_else_was_done(full, tmp_path):
    rows = full.evidence.query("test == 'steer' and method == 'probe' and control != 'steer'")
    alone = rewrite_evidence(rich_atlas(tmp_path / "atlas", unmapped=(), tests=["steer"], tested=["probe"]), rows)
    looks = [
        {line.get_label(): (line.get_color(), line.get_marker()) for line in draw(atlas, "steer").axes[0].lines[1:]}
        for atlas in (full, alone)
    ]
    assert len(set(looks[0].values())) == 4
    assert looks[1] == {label: look for label, look in looks[0].items() if label != "steer"}
