"""What the page is told about maps is what the atlas says."""

import base64
from pathlib import Path

import numpy as np
import pytest

from headatlas.atlas.declarations import Measure, MethodInfo
from headatlas.stats import LEVEL
from headatlas.views.page.maps import describe_maps, describe_ranks, describe_scales, read_seed_maps
from headatlas.views.scale import scale_ticks, scale_top
from tests.atlases import Known, rich_atlas, write_atlas


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return rich_atlas(tmp_path_factory.mktemp("maps") / "atlas", shape=(12, 9), tested=())


def floats(packed, shape):
    return np.frombuffer(base64.b64decode(packed["bytes"]), dtype="<f4").reshape(shape)


def halves(packed, shape):
    return (np.frombuffer(base64.b64decode(packed["bytes"]), dtype="<f2").astype(float) * packed["scale"]).reshape(
        shape
    )


def one(entries, **wanted):
    return next(entry for entry in entries if all(entry[name] == value for name, value in wanted.items()))


def as_grid(rows, column, shape):
    grid = np.full(shape, np.nan)
    grid[rows["layer"], rows["head"]] = rows[column]
    return grid


@pytest.mark.parametrize("seed", [0, 2])
def test_every_seed_travels_with_its_interval_and_q(atlas, seed):
    stored = one(describe_maps(read_seed_maps(atlas)), method="probe", measure="information", task="Retrieval")
    entry = one(stored["seeds"], seed=seed)
    table = atlas.table("Retrieval", "probe", "information", seed)
    np.testing.assert_allclose(floats(entry["value"], atlas.shape), as_grid(table, "value", atlas.shape), rtol=1e-6)
    for name, column in (("low", "low"), ("high", "high"), ("q", "q_value")):
        np.testing.assert_allclose(
            halves(entry[name], atlas.shape), as_grid(table, column, atlas.shape), rtol=6e-4, atol=1e-7
        )
    assert entry["distinct"] == (table["q_value"] < LEVEL).sum()


def test_means_over_seeds_are_those_of_the_atlas(atlas):
    stored = one(describe_maps(read_seed_maps(atlas)), method="gate", measure="facilitation", task="Retrieval")
    np.testing.assert_allclose(halves(stored["mean"], atlas.shape), atlas.grid("Retrieval", "gate"), rtol=5e-4)
    signed = one(describe_maps(read_seed_maps(atlas)), method="probe", measure="information", task="Retrieval")
    np.testing.assert_allclose(floats(signed["mean"], atlas.shape), atlas.grid("Retrieval", "probe"), rtol=1e-6)
    assert stored["seeds"][0]["low"] is None and stored["seeds"][0]["q"] is None


def test_of_roles_always_is_the_least_and_any_the_most(atlas):
    stored = one(describe_maps(read_seed_maps(atlas)), method="gate", measure="facilitation", task="Retrieval")
    joined = stored["joined"]
    assert len(joined["choices"]) == 2
    assert joined["always"] == joined["least"] and joined["any"] == joined["most"] != joined["least"]


def test_a_partial_map_counts_what_it_measured(atlas):
    stored = one(describe_maps(read_seed_maps(atlas)), method="ablate", task="Retrieval")
    measured = len(atlas.table("Retrieval", "ablate"))
    assert 0 < measured < 108
    assert stored["joined"] is None and stored["views"]["mean"]["measured"] == measured
    assert np.isfinite(floats(stored["seeds"][0]["value"], atlas.shape)).sum() == measured


def test_summaries_of_sizes(tmp_path):
    value = np.array([[3.0, -4.0], [0.0, 1.0]])
    seed_maps = read_seed_maps(write_atlas(tmp_path / "a", [Known(value)]))
    summary = describe_maps(seed_maps)[0]["views"]["mean"]
    assert (summary["measured"], summary["total"], summary["half"]) == (4, 8, 1)
    np.testing.assert_allclose(halves(summary["layers"], 2), [3.5, 0.5])


@pytest.mark.parametrize(("method", "task"), [("probe", "Inference"), ("gate", "Retrieval"), ("ablate", "Retrieval")])
def test_ranks_are_those_of_the_atlas(atlas, method, task):
    entry = one(list(describe_ranks(atlas, read_seed_maps(atlas))), method=method, task=task)
    ranks = np.frombuffer(base64.b64decode(entry["bytes"]), dtype="<u2")
    ranking = atlas.ranking(task, method)
    assert [divmod(int(index), 9) for index in np.argsort(ranks, kind="stable")[np.sort(ranks) > 0]] == ranking
    assert entry["measured"] == len(ranking) and (ranks == 0).sum() == 108 - len(ranking)


def test_a_method_may_rank_its_smallest_values_first(tmp_path: Path):
    info = MethodInfo(
        name="loss", title="Loss", summary="", meaning="", kind="importance", primary="loss", order="ascending",
        measures=(Measure(name="loss", meaning="", unit="nats"),),
    )  # fmt: skip
    known = Known(np.array([[3.0, 1.0, np.nan, 2.0]]), method="loss", measure="loss")
    made_up = write_atlas(tmp_path / "a", [known], methods=[info])
    (entry,) = describe_ranks(made_up, read_seed_maps(made_up))
    assert np.frombuffer(base64.b64decode(entry["bytes"]), dtype="<u2").tolist() == [3, 1, 0, 2]


def test_scales_are_the_rule_of_the_figures_applied_to_sizes(atlas):
    data = describe_scales([read_seed_maps(atlas)])
    views = data["table"]["attribute"]["needed"]["mean"]
    sizes = {task: np.abs(atlas.grid(task, "attribute")).ravel() for task in atlas.tasks}
    shared = data["scales"][views["shared"]]
    top, clipped = scale_top(np.concatenate(list(sizes.values())))
    assert shared["top"] == top and [value for value, _ in shared["sizes"]] == scale_ticks(top)
    assert shared["sizes"][-1][1].endswith("+") == clipped and shared["signed"][2] == (0.0, "0")
    assert {task: data["scales"][i]["top"] for task, i in views["tasks"].items()} == {
        task: scale_top(values)[0] for task, values in sizes.items()
    }


def test_measures_from_0_to_1_have_a_fixed_scale(atlas):
    data = describe_scales([read_seed_maps(atlas)])
    for view in ("mean", "always", "any", "0", "1", "2"):
        scale = data["scales"][data["table"]["gate"]["interference"][view]["shared"]]
        assert scale["top"] == 1 and [text for _, text in scale["sizes"]] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]


def test_two_atlases_share_their_scales(tmp_path):
    small, large = (
        write_atlas(tmp_path / name, [Known(np.full((4, 4), size))]) for name, size in (("a", 0.1), ("b", 3.0))
    )
    data = describe_scales([read_seed_maps(small), read_seed_maps(large)])
    assert data["scales"][data["table"]["attribute"]["needed"]["mean"]["shared"]]["top"] == 3
