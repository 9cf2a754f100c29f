"""What each head is for: one table per function, with shares, intervals and q."""

import numpy as np

from headatlas.patterns.functions import head_functions
from headatlas.wording import interval, p_value, signed
from tests.atlases import Known, write_atlas
from tests.views.report.reading import report, section

SHAPE = (5, 8)


def maps(task, shares):
    """Maps of ablation in which the heads of `shares` are sure; the others have nothing."""
    value, p = np.zeros(SHAPE), np.ones(SHAPE)
    for head, share in shares.items():
        value[head], p[head] = share, 1e-7
    halves = {"needed": 1.0, "share": 1.0, "specific": 0.5}
    return [Known(value * part, np.full(SHAPE, 0.02), p, method="ablate", measure=measure, task=task)
            for measure, part in halves.items()]  # fmt: skip


def test_heads_of_every_function_with_share_interval_and_q(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [*maps("A", {(1, 2): 0.3, (4, 7): 0.1}), *maps("B", {(1, 2): 0.2})])
    text = section(report(atlas, findings=[]), "What each head is for")
    assert text.strip().startswith(
        "2 of 40 heads are specifically for a function (1 of them for more than one): the task needs the head"
    )
    assert "(ablate; q below 0.05, corrected over all heads and tasks together)" in text
    part = section(text, "A", 3)
    assert "2 heads with 40 % of the positive effects of the task together; the largest is L1H2 with 30 %." in part
    assert "| head | share of the task's effects | 95 % interval | share less mean share for other tasks |" in part
    rows = [line for line in part.splitlines() if line.startswith("| L")]
    for line, row in zip(rows, head_functions(atlas).query("task == 'A'").itertuples(), strict=True):
        share, specific = (
            atlas.table("A", "ablate", measure).query(f"layer == {row.layer} and head == {row.head}").iloc[0]
            for measure in ("share", "specific")
        )
        cells = [f"L{row.layer}H{row.head}"]
        for said in (share, specific):
            cells += [signed(said["value"], 3), interval(said["low"], said["high"], 3, sign=True)]
        assert line == f"| {' | '.join([*cells, p_value(row.q_value)])} |"
    assert "1 head with 20 % of the positive effects of the task.\n" in section(text, "B", 3)


def test_the_rest_of_many_heads_is_only_counted(tmp_path):
    many = {(3, i): 0.05 for i in range(8)} | {(4, i): 0.02 for i in range(4)}
    atlas = write_atlas(tmp_path / "atlas", [*maps("A", many), *maps("B", {})])
    part = section(report(atlas, findings=[]), "A", 3)
    assert "12 heads with" in part and "The first 10 are listed." in part
    assert len([line for line in part.splitlines() if line.startswith("| L")]) == 10


def test_an_atlas_that_cannot_tell_says_so(tmp_path):
    text = report(write_atlas(tmp_path / "atlas", [Known(np.ones(SHAPE))]), findings=[])
    assert "No method of this atlas says how specific heads are to a task" in section(text, "What each head is for")
