"""The columns of every table. One column means one thing; what does not apply to a row is null."""

from __future__ import annotations

import pyarrow as pa

SCORES = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),
        ("measure", pa.string()),  # declared by the method, see run.json
        ("task", pa.string()),
        ("seed", pa.int32()),
        ("layer", pa.int32()),
        ("head", pa.int32()),
        ("value", pa.float64()),
        ("stderr", pa.float64()),  # clustered by group
        ("p_value", pa.float64()),  # of "no effect", two-sided
        ("q_value", pa.float64()),  # Benjamini-Hochberg over all measured heads of the map
        ("groups", pa.int32()),  # groups of examples behind stderr
        ("low", pa.float64()),  # 95 % interval, sound for skewed effects
        ("high", pa.float64()),
        ("rank", pa.int32()),  # 1 for the first head in the order that the method declares
    ]
)
NOISE = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),
        ("measure", pa.string()),
        ("task", pa.string()),
        ("seed", pa.int32()),
        ("examples", pa.string()),  # a name of the examples; maps with the same one share their noise
        ("set", pa.int32()),  # a set of groups
        ("layer", pa.int32()),
        ("head", pa.int32()),
        ("value", pa.float32()),  # what the set adds to the map; squares sum to the variance of the head
    ]
)
DIAGNOSTICS = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),
        ("metric", pa.string()),
        ("task", pa.string()),  # null for numbers about all tasks together
        ("seed", pa.int32()),
        ("layer", pa.int32()),  # with head: numbers about one head
        ("head", pa.int32()),
        ("step", pa.int32()),  # of a course of fitting
        ("rank", pa.int32()),  # of a sorted curve, 1 for its largest value
        ("other_seed", pa.int32()),  # of a comparison between two seeds
        ("value", pa.float64()),
        ("low", pa.float64()),  # 95 % interval of the value
        ("high", pa.float64()),
        ("null_low", pa.float64()),  # the middle 95 % of what the null gives
        ("null_high", pa.float64()),
    ]
)
EVIDENCE = pa.schema(
    [
        ("model", pa.string()),
        ("method", pa.string()),  # whose map chose the heads
        ("test", pa.string()),
        ("settings", pa.string()),  # key of the settings it was run with, in run.json under verifications
        ("task", pa.string()),  # whose heads were chosen
        ("eval_task", pa.string()),  # the task that was measured
        ("control", pa.string()),  # which heads, or what was done to them; declared by the test
        ("factor", pa.float64()),  # the number that goes with the control: a scale, a strength, a threshold
        ("compared_with", pa.string()),  # null for a level; else value is control minus this one, paired by example
        ("k", pa.int32()),  # number of heads
        ("draw", pa.int32()),  # number of the random draw
        ("metric", pa.string()),
        ("value", pa.float64()),  # the metric under the intervention, or the difference
        ("intact", pa.float64()),  # the metric of the intact model on the same examples
        ("low", pa.float64()),  # 95 % interval of `value`, clustered by group; of levels, that of the paired change
        ("high", pa.float64()),
        ("p_value", pa.float64()),  # rank of the chosen heads among the random draws; one-sided
        ("q_value", pa.float64()),  # Benjamini-Hochberg over all p-values of the test and metric
        ("groups", pa.int32()),  # groups of examples behind the interval
        ("remark", pa.string()),  # why there is no interval
    ]
)
LATER = frozenset({"q_value", "groups", "remark"})  # columns that evidence of earlier revisions does not have: null
COMPETENCE = pa.schema(
    [
        ("task", pa.string()),
        ("items", pa.int32()),
        ("accuracy", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("chance", pa.float64()),
        ("logprob", pa.float64()),
        ("margin", pa.float64()),  # null for tasks without distractors
        ("exact", pa.float64()),
        ("mapped", pa.int32()),
        ("verdict", pa.string()),
    ]
)
