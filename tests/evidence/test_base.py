"""What all tests share: p-values that are corrected together."""

import pytest

from headatlas.atlas.records import Evidence
from headatlas.evidence.base import with_q_values


def compared(task: str, k: int, metric: str, p: float | None) -> Evidence:
    return Evidence("mask", task, task, "top", metric, -1.0, k=k, compared_with="random", p_value=p)


def test_p_values_of_a_metric_are_corrected_over_all_tasks_and_numbers_of_heads():
    ps = [0.01, 0.04, 0.2, 0.5]
    family = [compared(task, k, "margin", ps[2 * i + j]) for i, task in enumerate("AB") for j, k in enumerate((1, 16))]
    other = [compared("A", 1, "logprob", 0.04), compared("A", 1, "accuracy", None)]
    corrected = with_q_values([*family, *other])
    assert [row.q_value for row in corrected[:4]] == pytest.approx([0.04, 0.08, 0.8 / 3, 0.5])
    assert [row.q_value for row in corrected[4:]] == [0.04, None], "another metric is another family"
    assert [row.p_value for row in corrected] == [row.p_value for row in (*family, *other)]
    assert with_q_values([]) == []
