"""Two maps compared, in a terminal: every number is that of the comparison."""

import numpy as np

from headatlas.patterns.compare import compare
from headatlas.views.terminal import comparison_table
from headatlas.wording import interval, signed
from tests.atlases import write_atlas
from tests.patterns.compare.pairs import SHAPE, examples, known
from tests.patterns.compare.test_depth import peaked
from tests.views.terminal.printing import printed


def test_one_row_per_task_and_the_heads_that_differ(tmp_path):
    rng = np.random.default_rng(0)
    effect = 3 * rng.standard_normal(SHAPE)
    changed = effect + 40 * np.eye(*SHAPE)
    first, second = (write_atlas(tmp_path / name, [known(examples(values, rng), task="[a]")])
                     for name, values in (("one", effect), ("two", changed)))  # fmt: skip
    outcome = compare(first, second)
    (task,) = outcome.tasks
    lines = printed([comparison_table(outcome)]).splitlines()
    assert lines[0].strip() == "one and two, by heads"
    reach = interval(task.correlation.low, task.correlation.high, sign=True).split()
    cells = ["[a]", signed(task.correlation.value), *reach, str(len(task.shared)), "1.0"]
    assert lines[3].split() == [*cells, "8"]
    assert lines[5].strip() == "Heads that differ beyond noise (q below 0.05 over all heads and tasks)"
    row = task.differing.iloc[0]
    assert lines[7].split()[:3] == ["[a]", f"L{row['layer']:.0f}H{row['head']:.0f}", signed(row["first"], 4)]
    assert "and 3 more" in lines[12]
    assert outcome.remarks and lines[14].startswith(outcome.remarks[0][:60])


def test_depths(tmp_path):
    rng = np.random.default_rng(0)
    first, second = (write_atlas(tmp_path / name, [peaked(layers, 6, 0.3, rng)], name=name)
                     for name, layers in (("deep", 24), ("flat", 12)))  # fmt: skip
    outcome = compare(first, second)
    text = printed([comparison_table(outcome)])
    assert "deep and flat, by depth" in text and outcome.remarks[0][:40] in text
    difference = outcome.tasks[0].centres[2]
    assert f"{signed(difference.value)}  {interval(difference.low, difference.high, sign=True)}" in text
