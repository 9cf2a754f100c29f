"""Changes in a terminal."""

import pandas as pd

from headatlas.atlas.tables import EVIDENCE
from headatlas.views.terminal import evidence_tables
from tests.atlases import rewrite_evidence, rich_atlas
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


def test_a_star_says_that_a_push_does_more_than_its_control(full, tmp_path):
    steered = full.evidence.query("test == 'steer' and method == 'probe' and control == 'steer'")
    steered = steered[(steered["task"] == "Inference") & (steered["eval_task"] == "Inference")]
    compared = steered.assign(compared_with="random heads", value=0.25, intact=0.0, low=0.1, high=0.4)
    atlas = rich_atlas(tmp_path / "atlas", unmapped=(), shape=(12, 6), tests=["steer"], tested=["probe"])
    atlas = rewrite_evidence(atlas, pd.concat([steered, compared])[EVIDENCE.names])
    text = printed(evidence_tables(atlas, "probe"))
    assert cells(text, "steer", "Inference")[-1] == "+0.25*"
    assert "* the 95 % interval excludes zero" in section(text, "steer")
