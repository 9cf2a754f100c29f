"""The strongest heads: measure, unit and rule are named, and errors are shown only where a method has them."""

import numpy as np
import pytest

from headatlas.views.terminal import top_table
from headatlas.wording import decimal, interval, p_value, signed
from tests.atlases import Known, measured, write_atlas
from tests.views.terminal.printing import printed


def lines(atlas, method, k=3):
    title, heading, *rows = printed([top_table(atlas, None, k, method)]).splitlines()
    return title.strip(), heading.split(), [row.split() for row in rows]


def test_errors_where_there_are_some(tmp_path):
    effect = np.zeros((3, 4))
    effect[1, 2], effect[2, 3] = 9.0, -20.0
    atlas = write_atlas(tmp_path / "atlas", [measured(effect, 1.0, np.random.default_rng(0))])
    title, heading, rows = lines(atlas, "attribute", 12)
    assert title == "Task: strongest heads by attribute (largest needed first)"
    assert heading == ["rank", "head", "needed", "(nats)", "95", "%", "interval", "q"]
    for cells, row in zip(rows, atlas.table().itertuples(), strict=True):
        ends = interval(row.low, row.high, 4, sign=True).split()
        unsure = [] if row.q_value < 0.05 else ["may", "be", "zero"]
        name = f"L{row.layer}H{row.head}"
        assert cells == [str(row.rank), name, signed(row.value, 4), *ends, p_value(row.q_value), *unsure]
    assert rows[0][1] == "L1H2" and len(rows[0]) == 7  # sure
    assert rows[-1][1] == "L2H3" and len(rows[-1]) == 7  # sure, and last: it hurts
    assert {len(row) for row in rows} == {7, 10}  # some may be zero


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_method_without_errors_has_no_intervals_and_no_q(tmp_path, seeds):
    rng = np.random.default_rng(0)
    maps = [Known(rng.random((3, 4)), method="gate", measure="facilitation", seed=seed) for seed in range(seeds)]
    atlas = write_atlas(tmp_path / "atlas", maps)
    title, heading, rows = lines(atlas, "gate")
    if seeds == 1:
        assert title == "Task: strongest heads by gate (largest facilitation first)"
        assert heading == ["rank", "head", "facilitation"]
        wanted = [[str(r.rank), f"L{r.layer}H{r.head}", decimal(r.value, 4)] for r in atlas.table().itertuples()]
    else:
        assert title == "Task: strongest heads by gate (largest facilitation first, mean of 3 seeds)"
        assert heading == ["rank", "head", "facilitation", "range", "over", "3", "seeds"]
        wanted = [
            [str(r.rank), f"L{r.layer}H{r.head}", decimal(r.value, 4), *interval(r.least, r.most, 4).split()]
            for r in atlas.table().itertuples()
        ]
    assert rows == wanted[:3]
    assert "nan" not in str(rows) and "zero" not in str(rows)


def test_a_method_that_ranks_from_below_says_so(tmp_path):
    maps = [Known(np.array([[0.9, 0.1], [0.5, 0.3]]), method="contrast", measure="gate")]
    title, _, rows = lines(write_atlas(tmp_path / "atlas", maps), "contrast", 2)
    assert title == "Task: strongest heads by contrast (smallest gate first)"
    assert [row[1] for row in rows] == ["L0H1", "L1H1"]
