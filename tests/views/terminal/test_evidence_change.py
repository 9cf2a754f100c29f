"""Changes in a terminal."""

from headatlas.views.terminal import evidence_tables
from tests.views.terminal.printing import cells, change, change_interval, level, printed, section


def test_strength_gain_and_cost(full):
    text = printed(evidence_tables(full, "probe"))
    steered = {"test": "steer", "method": "probe", "task": "Inference", "control": "steer"}
    accuracy = level(full, eval_task="Inference", metric="accuracy", **steered)
    logprob = level(full, eval_task="Inference", metric="logprob", **steered)
    cost = level(full, eval_task="Neutral", metric="logprob", **steered)
    wanted = [f"{accuracy['factor']:g}", change(accuracy), *change_interval(accuracy), change(logprob), change(cost)]
    assert cells(text, "steer", "Inference") == wanted
    assert "Logical Reasoning" not in section(text, "steer")  # it was not steered
