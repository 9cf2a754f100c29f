"""What each head is for, after correction over all functions and heads."""

import numpy as np

from headatlas.patterns.functions import COLUMNS, function_counts, head_functions, specific_method
from tests.atlases import Known, write_atlas


def maps(task, p):
    value = np.where(p < 1, 0.2, 0.0)
    value[0, 0] = -0.3  # the head serves the other tasks more
    return [
        Known(value, np.full((5, 4), 0.05), p, method="ablate", measure=measure, task=task)
        for measure in ("needed", "share", "specific")
    ]


def test_only_what_survives_the_correction_over_tasks_and_heads_is_named(tmp_path):
    p_a, p_b = np.ones((5, 4)), np.ones((5, 4))
    p_a[1, 1], p_a[0, 0], p_b[2, 2] = 1e-5, 1e-5, 0.004
    alone = head_functions(write_atlas(tmp_path / "a", maps("B", p_b)))
    assert len(alone) == 0, "0.004 of 20 heads is not enough"
    p_b[2, 2] = 0.002
    rows = head_functions(write_atlas(tmp_path / "b", [*maps("A", p_a), *maps("B", p_b)]))
    assert rows[["layer", "head", "task"]].to_numpy().tolist() == [[1, 1, "A"], [2, 2, "B"]]
    assert (rows["q_value"] < 0.05).all() and (rows["specific"] > 0).all()
    shares = rows[["share_low", "share", "share_high"]].to_numpy()
    assert (np.diff(shares, axis=1) > 0).all() and shares[:, 1].tolist() == [0.2, 0.2], "the interval of the share"
    assert function_counts(rows, ["A", "B", "C"]) == {"A": 1, "B": 1, "C": 0}


def test_an_atlas_without_specific_heads_has_no_functions(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [Known(np.ones((4, 3)))])
    assert specific_method(atlas) is None
    assert head_functions(atlas).columns.tolist() == COLUMNS and head_functions(atlas).empty
