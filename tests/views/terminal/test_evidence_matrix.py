"""Matrices in a terminal."""

from headatlas.suites.cognitive.functions import HIGH, LOW
from headatlas.views.terminal import evidence_tables
from headatlas.wording import decimal, signed
from tests.views.terminal.printing import cells, change, change_interval, difference, level, printed, section


def test_heads_are_compared_on_the_same_task(full):
    text = printed(evidence_tables(full, "probe"))
    levels = full.evidence.query("test == 'specificity' and method == 'probe' and control == 'top'")
    levels = levels[levels["compared_with"].isna() & (levels["metric"] == "logprob")]
    levels = levels[levels["eval_task"] == "Decision-making"].set_index("task")
    changes = levels["value"] - levels["intact"]
    of_task = {"test": "specificity", "method": "probe", "task": "Decision-making"}
    beyond = difference(full, metric="logprob", **of_task)
    masked = level(full, metric="perplexity", **of_task)
    assert cells(text, "specificity", "Decision-making") == [
        signed(changes["Decision-making"]), signed(changes.drop("Decision-making").mean()), change(beyond),
        *change_interval(beyond), "21.7", "to", decimal(masked["value"], 1),
    ]  # fmt: skip
    assert "16 heads removed, chosen by probe" in section(text, "specificity")


def test_pairs_are_marked_where_they_are_sure(full):
    text = printed(evidence_tables(full, "probe"))
    marks = set()
    for low in LOW:
        wanted = []
        for high in HIGH:
            row = difference(full, test="hierarchy", method="probe", task=low, eval_task=high, metric="logprob")
            is_sure = bool(row["low"] > 0 or row["high"] < 0)
            marks.add(is_sure)
            wanted.append(signed(row["value"]) + "*" * is_sure)
        assert cells(text, "hierarchy", low) == wanted
    assert marks == {True, False}
    assert "top less random; * the 95 % interval excludes zero" in section(text, "hierarchy")
