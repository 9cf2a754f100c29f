"""Matrices and changes in the report."""

import numpy as np

from headatlas.atlas.records import Evidence
from headatlas.evidence.specificity import OTHERS
from tests.atlases import Known, write_atlas
from tests.views.report.reading import report, test_section


def told(folder, rows):
    maps = [Known(np.ones((3, 4)), task=task) for task in "AB"]
    atlas = write_atlas(folder, maps, evidence={"attribute": rows})
    return test_section(report(atlas, findings=[]), rows[0].test, "attribute")


def level(test, task, eval_task, value, control="top", **more):
    return Evidence(test, task, eval_task, control, "logprob", value, -1.0, value - 0.1, value + 0.1, 4, **more)


def test_changes_and_the_comparison_on_the_task_itself(tmp_path):
    rows = [level("specificity", a, b, -3.0 if a == b else -1.5) for a in "AB" for b in "AB"]
    rows.append(Evidence("specificity", "A", "A", "top", "logprob", -1.5, 0, -1.9, -1.1, 4, compared_with=OTHERS))
    text = told(tmp_path / "atlas", rows)
    assert "Change of log-probability (nats) with 4 heads removed (top)." in text
    assert "| A | −2.000 | −0.500 |" in text and "| B | −0.500 | −2.000 |" in text
    assert (
        "Log-probability (nats): top less other tasks' heads, with 95 % intervals, measured on the task itself." in text
    )
    assert "| A | −1.500 | −1.900 to −1.100 |" in text


def test_differences_of_pairs_are_not_mixed_with_changes(tmp_path):
    rows = [level("hierarchy", "A", "B", -3.0)]
    rows += [level("hierarchy", "A", "B", -1.0 - 0.1 * draw, "random", draw=draw) for draw in (1, 3)]
    rows.append(Evidence("hierarchy", "A", "B", "top", "logprob", -1.8, 0, -2.0, -1.6, 4, compared_with="random"))
    text = told(tmp_path / "atlas", rows)
    assert "Log-probability (nats): top less random, with 95 % intervals. Rows: whose heads" in text
    assert "| A | −1.800 (−2.000 to −1.600) |" in text
    assert "| A | −2.000 |" in text
    assert "with 4 heads removed (random, mean of 2 draws)." in text and "| A | −0.200 |" in text


def test_every_change_has_its_control_and_factor(tmp_path):
    rows = [
        level("steer", "A", "A", -0.5, "steer", factor=5.0),
        level("steer", "A", "Neutral", -1.25, "scale", factor=0.5),
    ]
    text = told(tmp_path / "atlas", rows)
    assert "| A | A | steer | 5 | 4 | log-probability (nats) | −1.000 | +0.500 | +0.400 to +0.600 |" in text
    assert "| A | Neutral | scale | 0.5 | 4 | log-probability (nats) | −1.000 | −0.250 | −0.350 to −0.150 |" in text


def test_comparisons_of_a_change_come_first_with_their_intervals_p_and_q(tmp_path):
    rows = [level("steer", "A", "A", -0.5, "steer", factor=5.0)]
    compared = {"factor": 5.0, "compared_with": "random heads", "p_value": 0.02, "q_value": 0.04}
    rows.append(Evidence("steer", "A", "A", "steer", "logprob", 0.4, 0, 0.1, 0.7, 4, **compared))
    text = told(tmp_path / "atlas", rows)
    line = "| A | steer less random heads | 5 | log-probability (nats) | +0.400 | +0.100 to +0.700 | 0.02 | 0.04 |"
    assert line in text
    assert text.index(line) < text.index("| A | A | steer | 5 | 4 |")
