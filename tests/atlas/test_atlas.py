"""Reading an atlas: its tables, its ranks, and what is not an atlas."""

import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.tables import COMPETENCE, DIAGNOSTICS, NOISE, SCORES
from headatlas.errors import HeadAtlasError


def test_the_tables_keep_their_contract(tiny_atlas):
    assert pq.read_schema(tiny_atlas.path / "scores.parquet").equals(SCORES)
    assert pq.read_schema(tiny_atlas.path / "competence.parquet").equals(COMPETENCE)
    assert pq.read_schema(tiny_atlas.path / "diagnostics.parquet").equals(DIAGNOSTICS)
    columns = "model method measure task seed layer head value stderr p_value q_value groups low high rank"
    assert SCORES.names == columns.split()
    counts = tiny_atlas.scores.groupby(["method", "task"]).size().to_dict()
    # Of 12 heads attribution has two measures, ablation four, the probe two, gates five for each of three seeds.
    sizes = {"attribute": 24, "ablate": 48, "probe": 24, "gate": 180}
    assert counts == {(method, task): n for method, n in sizes.items() for task in ("Colours", "Numbers")}
    with_errors = tiny_atlas.scores[tiny_atlas.scores["stderr"].notna()]
    assert set(with_errors["method"]) == {"attribute", "ablate", "probe"}, "a fitted gate has no error"
    tested = tiny_atlas.scores[tiny_atlas.scores["p_value"].notna()]
    assert set(tested["method"]) == {"ablate"}, "an estimate has no p, and the groups of a probe are fewer than 5"
    assert (tested["q_value"] >= tested["p_value"] - 1e-12).all()


def test_ranks_follow_the_one_rule(tiny_atlas):
    for _, rows in tiny_atlas.scores.groupby(["method", "measure", "task", "seed"]):
        ranked = rows.sort_values("rank")["value"].to_numpy()
        assert (np.diff(ranked) <= 0).all(), "the largest value comes first"
        assert sorted(rows["rank"]) == list(range(1, len(rows) + 1))
    table = tiny_atlas.table("colours", "attribute")
    assert tiny_atlas.ranking("colours", "attribute") == list(zip(table["layer"], table["head"], strict=True))
    assert tiny_atlas.info("attribute").ranking == "largest needed first"


def test_the_rows_of_a_map_are_those_of_the_table_of_scores(tiny_atlas):
    scores = tiny_atlas.scores
    assert sum(map(len, tiny_atlas.maps.values())) == len(scores)
    for (method, measure, task), rows in tiny_atlas.maps.items():
        same = scores[(scores["method"] == method) & (scores["measure"] == measure) & (scores["task"] == task)]
        assert rows.equals(same[rows.columns]) and {"seed", "layer", "head", "value", "groups"} <= set(rows.columns)
        assert tiny_atlas.rows_of(method, measure, task) is rows
    assert tiny_atlas.rows_of("ablate", "needed", "Dances").empty
    for method in tiny_atlas.methods:
        of_method = scores[scores["method"] == method]
        assert tiny_atlas.tasks_of(method) == of_method["task"].unique().tolist()
        assert tiny_atlas.measures_of(method) == of_method["measure"].unique().tolist()


def test_reading_what_is_not_an_atlas_says_so(tmp_path):
    with pytest.raises(HeadAtlasError, match="There is no folder"):
        Atlas(tmp_path / "none")
    with pytest.raises(HeadAtlasError, match="is not an atlas: there is no run.json"):
        Atlas(tmp_path)
    (tmp_path / "run.json").write_text('{"schema_version": 99}')
    with pytest.raises(HeadAtlasError, match="has schema version 99; this headatlas reads version 2"):
        Atlas(tmp_path)
    (tmp_path / "run.json").write_text('{"schema": 1, "model": {}}')
    with pytest.raises(HeadAtlasError, match="has schema version 1; this headatlas reads version 2"):
        Atlas(tmp_path)
    (tmp_path / "run.json").write_text('{"schema_version": ')
    with pytest.raises(HeadAtlasError, match="cannot be read as the description of an atlas"):
        Atlas(tmp_path)
    (tmp_path / "run.json").write_text('{"schema_version": 2}')
    with pytest.raises(HeadAtlasError, match="as the description of an atlas: field 'model': Field required"):
        Atlas(tmp_path)


def test_an_unfinished_atlas_says_how_to_go_on(tmp_path, tiny_atlas):
    shutil.copy(tiny_atlas.path / "run.json", tmp_path / "run.json")
    with pytest.raises(HeadAtlasError, match="is not finished: it has no scores.parquet. Continue it with: headatlas"):
        _ = Atlas(tmp_path).scores


def test_a_table_of_another_version_is_refused(tmp_path, tiny_atlas):
    shutil.copy(tiny_atlas.path / "run.json", tmp_path / "run.json")
    tiny_atlas.scores.drop(columns="rank").to_parquet(tmp_path / "scores.parquet")
    with pytest.raises(HeadAtlasError, match="its columns are not those of this version of headatlas .* rank"):
        _ = Atlas(tmp_path).scores


def test_several_seeds_have_a_range_instead_of_an_interval(tiny_atlas):
    table = tiny_atlas.table("colours", "gate")
    assert table[["low", "high", "stderr", "p_value", "q_value"]].isna().all(axis=None)
    assert ((table["least"] <= table["value"]) & (table["value"] <= table["most"])).all()
    single = tiny_atlas.table("colours", "gate", seed=1)
    assert (single["least"] == single["value"]).all()
    with pytest.raises(HeadAtlasError, match=r"have the seeds \[0, 1, 2\], not 7"):
        tiny_atlas.table("colours", "gate", seed=7)


def test_heads_come_in_the_order_of_their_rank_with_their_interval(tiny_atlas):
    table = tiny_atlas.table("colours", "ablate")
    assert list(table["value"]) == sorted(table["value"], reverse=True)
    assert list(table["rank"]) == list(range(1, 13))
    assert ((table["low"] < table["value"]) & (table["value"] < table["high"])).all()
    few = tiny_atlas.table("colours", "probe")
    assert few[["low", "high", "p_value", "q_value"]].isna().all(axis=None), "fewer than 5 groups give no interval"


def test_the_default_method_is_shown_unless_another_is_asked_for(tiny_atlas):
    assert tiny_atlas.choose_method() == "ablate"
    assert tiny_atlas.choose_method("probe") == "probe"
    with pytest.raises(HeadAtlasError, match="Unknown method in this atlas 'sense'"):
        tiny_atlas.choose_method("sense")


def test_noise_is_written_beside_the_maps_that_have_it(tiny_atlas):
    assert pq.read_schema(tiny_atlas.path / "noise.parquet").equals(NOISE)
    noise = tiny_atlas.noise[tiny_atlas.noise["method"] == "ablate"]
    scores = tiny_atlas.scores.query("method == 'ablate' and measure == 'needed'")
    assert set(noise["measure"]) == {"needed"}
    heads = noise[["task", "layer", "head"]].drop_duplicates()
    assert len(heads) == len(scores)
