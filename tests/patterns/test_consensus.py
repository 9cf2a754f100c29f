"""Heads that several independent methods support: each by its own rule, and what rests on the same counts once."""

import numpy as np
import pytest

from headatlas.errors import HeadAtlasError
from headatlas.methods import METHODS
from headatlas.patterns import consensus_tasks, find_consensus
from tests.atlases import Known, write_atlas

SHAPE = (5, 8)  # 40 heads: the first two of an estimate count


def values(**heads: float) -> np.ndarray:
    """A grid of -0.01 everywhere else, and by name: values(L1H2=3.0)."""
    grid = np.full(SHAPE, -0.01)
    for name, value in heads.items():
        layer, head = name[1:].split("H")
        grid[int(layer), int(head)] = value
    return grid


def small_p(*heads: str) -> np.ndarray:
    """p of 1e-6 for the named heads and 0.9 for all others."""
    grid = np.full(SHAPE, 0.9)
    for name in heads:
        layer, head = name[1:].split("H")
        grid[int(layer), int(head)] = 1e-6
    return grid


def ablated(task="Task"):
    """L0H0, L1H1 and L2H2 help for sure; L3H3 hurts for sure; L4H4 is large but not sure."""
    grid = values(L0H0=3.0, L1H1=2.0, L2H2=1.0, L3H3=-4.0, L4H4=9.0)
    p = small_p("L0H0", "L1H1", "L2H2", "L3H3")
    return Known(grid, np.full(SHAPE, 0.1), p, method="ablate", task=task)


def attributed(**heads):
    return Known(values(**heads), np.full(SHAPE, 0.1), method="attribute")


def gates(*seeds):
    return [Known(np.clip(grid, 0, 1), method="gate", seed=seed) for seed, grid in enumerate(seeds)]


def test_each_method_supports_by_its_own_rule(tmp_path):
    maps = [
        ablated(),
        attributed(L1H1=5.0, L3H3=4.0, L0H0=3.0),
        *gates(values(L0H0=0.9, L1H1=0.6, L4H4=0.9), values(L0H0=0.51, L1H1=0.8, L4H4=0.5)),
    ]
    found = find_consensus(write_atlas(tmp_path / "atlas", maps))
    assert {witness.info.name: witness.supported for witness in found.witnesses} == {
        "ablate": {(0, 0), (1, 1), (2, 2)},  # q below 0.05 above zero; L3H3 hurts, L4H4 is not sure
        "attribute": {(1, 1), (3, 3)},  # the first 5 % of 40 heads; L0H0 is its third
        "gate": {(0, 0), (1, 1)},  # above 0.5 in every seed; L4H4 is exactly 0.5 in one
    }
    assert [witness.criterion for witness in found.witnesses] == [
        "q below 0.05, needed above zero",
        "among its first 2 heads, 5 % of those measured (estimate, no p)",
        "facilitation above 0.5 in all 2 seeds",
    ]
    # Three methods before two; L3H3 has one only.
    assert found.heads == ((1, 1), (0, 0))
    assert found.supporters((0, 0)) == ["ablate", "gate"]
    # 3, 2 and 2 of 40 heads: pairs without the third, and all three.
    a, b, c = 3 / 40, 2 / 40, 2 / 40
    expected = 40 * (a * b * (1 - c) + a * c * (1 - b) + b * c * (1 - a) + a * b * c)
    assert found.by_chance == pytest.approx(expected)


def test_heads_with_as_many_methods_keep_the_order_of_the_default_method(tmp_path):
    # attribute ranks L3H2 before L4H2, ablate the other way round; ablate is the default.
    ablate = Known(values(L2H2=3.0, L4H2=2.0, L3H2=1.0), np.ones(SHAPE), np.ones(SHAPE), method="ablate")
    grid = np.zeros(SHAPE)
    grid[2:, 2] = 0.9
    atlas = write_atlas(tmp_path / "atlas", [ablate, attributed(L3H2=9.0, L4H2=8.0), Known(grid, method="gate")])
    assert find_consensus(atlas).heads == ((4, 2), (3, 2))


def test_an_estimate_below_zero_is_not_supported_though_it_is_first(tmp_path):
    grid = np.full(SHAPE, -1.0)
    grid[1, 1] = -0.5
    atlas = write_atlas(tmp_path / "atlas", [ablated(), Known(grid, method="attribute")])
    assert find_consensus(atlas).heads == ()
    assert find_consensus(atlas).rows().empty


def test_rows_hold_what_every_method_says(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [ablated(), attributed(L2H2=5.0, L0H0=4.0)])
    rows = atlas.consensus("Task")
    assert rows[["rank", "layer", "head", "methods"]].to_numpy().tolist() == [[1, 0, 0, 2], [2, 2, 2, 2]]
    first = rows.iloc[0]
    assert (first["ablate"], first["ablate_rank"], first["attribute"], first["attribute_rank"]) == (3.0, 2, 4.0, 2)
    assert first["ablate_q"] == pytest.approx(1e-6 * 40 / 4)
    assert first["ablate_supports"] and first["attribute_supports"]
    assert "attribute_q" not in rows, "it has none"
    assert len(atlas.consensus("Task", k=1)) == 1


def test_every_seed_of_a_method_with_q_must_be_sure(tmp_path):
    info = METHODS["ablate"].info.model_copy(update={"name": "again", "evidence_from": ""})
    sure = [
        Known(values(L0H0=1.0, L1H1=1.0, L2H2=sign), np.ones(SHAPE), small_p("L0H0", "L2H2", *second), method="again",
              measure="needed", seed=seed)
        for seed, (second, sign) in enumerate([(("L1H1",), 1.0), ((), -1.0)])
    ]  # fmt: skip
    atlas = write_atlas(tmp_path / "atlas", [ablated(), *sure], methods=[info])
    witness = find_consensus(atlas).witnesses[1]
    assert witness.supported == {(0, 0)}, "L1H1 is sure in one seed only, L2H2 changes its sign"
    assert witness.evidence == "again" and witness.criterion.endswith("in all 2 seeds")


def test_methods_that_rest_on_the_same_count_once(tmp_path):
    copy = METHODS["ablate"].info.model_copy(update={"name": "copy"})
    same = Known(ablated().value, ablated().stderr, ablated().p, method="copy", measure="needed")
    atlas = write_atlas(tmp_path / "a", [ablated(), same], methods=[copy])
    with pytest.raises(HeadAtlasError, match="at least 2 independent causal methods; 'Task' is mapped by ablate, copy"):
        find_consensus(atlas)
    with pytest.raises(HeadAtlasError, match="this atlas has ablate, copy. Map with more methods"):
        consensus_tasks(atlas)
    both = write_atlas(tmp_path / "b", [ablated(), same, attributed(L0H0=1.0)], methods=[copy])
    found = find_consensus(both)
    assert found.heads == ((0, 0),) and found.rows()["methods"].tolist() == [2]
    assert found.by_chance == pytest.approx(3 * 1 / 40)


def test_information_and_contrasts_have_no_say(tmp_path):
    probe = Known(values(L0H0=1.0), np.ones(SHAPE), small_p("L0H0"), method="probe")
    contrast = Known(values(L0H0=1.0), method="contrast")
    atlas = write_atlas(tmp_path / "atlas", [ablated(), probe, contrast])
    with pytest.raises(HeadAtlasError, match="'Task' is mapped by ablate. Map"):
        find_consensus(atlas)


def test_tasks_that_one_method_alone_has_mapped_are_left_out(tmp_path):
    atlas = write_atlas(tmp_path / "atlas", [ablated(), ablated("Other"), attributed(L0H0=1.0)])
    assert consensus_tasks(atlas) == ["Task"]
    with pytest.raises(HeadAtlasError, match="'Other' is mapped by ablate"):
        find_consensus(atlas, "Other")


def test_a_map_that_failed_its_own_check_supports_no_head(tmp_path):
    maps = [ablated(), *gates(values(L0H0=0.9), values(L0H0=0.8))]
    sound = find_consensus(write_atlas(tmp_path / "sound", maps))
    assert sound.heads == ((0, 0),)
    doubts = {"gate": {"Task": "masks do not hold when binarised"}}
    doubted = find_consensus(write_atlas(tmp_path / "doubted", maps, doubts=doubts))
    assert doubted.heads == ()
    (gate,) = (witness for witness in doubted.witnesses if witness.info.name == "gate")
    assert gate.criterion == "supports no head: masks do not hold when binarised"
