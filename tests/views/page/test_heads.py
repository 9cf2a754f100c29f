"""Portraits for the page: which are in it, in which order, and that what is written can be read."""

import json

import pytest

from headatlas.atlas.portraits import InTask, read_portrait, write_portrait
from headatlas.views.live import LivePage, offered
from headatlas.views.page.data import describe_page
from headatlas.views.page.encoding import as_json
from headatlas.views.page.heads import COMMON, describe_graphs, describe_heads
from tests import portraits
from tests.atlases import rich_atlas
from tests.atlases.portraits import write_portraits

HEADS = [(3, 1), (0, 2), (5, 0)]  # the strongest first


@pytest.fixture
def atlas(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a", "b"], (6, 4), methods=["attribute"], tested=())
    write_portraits(atlas, HEADS)
    return atlas


def embedded(described):
    """Which heads are in the page in which tasks."""
    return {(one["index"], seen["task"]) for one in described for seen in one["tasks"] if "strongest" in seen}


def test_everything_is_there_where_it_fits(atlas):
    described = describe_heads(atlas)
    assert [one["index"] for one in described] == [2, 13, 20]
    assert embedded(described) == {(index, task) for index in (2, 13, 20) for task in "ab"}
    first = described[1]["tasks"][0]
    assert set(InTask.model_fields) <= first.keys() and "elsewhere" not in first
    assert first["sentence"].startswith("L3H1: without it a loses 2.00 nats of margin (1.70 to 2.30)")
    assert first["routes"] == [["directly", 0.4], ["through MLPs", 0.6], ["through later heads", 1]]
    assert first["unit"] == "nats of margin, against the twin"
    assert described[1]["circuit"]["copying"] == 0.82
    assert (
        first["strongest"][0]["attention"]
        == read_portrait(atlas.path / "heads" / "L3H1.json").tasks[0].strongest[0].attention
    )


def test_the_strongest_of_each_task_come_first_and_the_budget_holds(atlas):
    sizes = [len(as_json(describe_heads(atlas, most))) for most in (0, 10**9)]
    step = (sizes[1] - sizes[0]) / 6
    order = [(13, "a"), (13, "b"), (2, "a"), (2, "b"), (20, "a"), (20, "b")]
    for count in range(7):
        most = round(sizes[0] + step * (count + 0.5))
        described = describe_heads(atlas, most)
        assert embedded(described) == set(order[:count])
        assert len(as_json(described)) <= max(most, sizes[0])
    for one in describe_heads(atlas, 0):  # the sentences are there all the same
        assert not set(COMMON) & one.keys()
        assert all(seen["elsewhere"] and seen["sentence"] for seen in one["tasks"])


def test_heads_that_the_model_does_not_have_are_left_out(atlas):
    write_portrait(atlas.path, portraits.portrait(6, 0))
    write_portrait(atlas.path, portraits.portrait(0, 4))
    assert [one["index"] for one in describe_heads(atlas)] == [2, 13, 20]


def test_what_is_not_a_number_is_null(atlas):
    nan = float("nan")
    one = portraits.portrait(
        3, 1, tasks=[portraits.in_task("a", held=portraits.number(nan), strongest=[portraits.shown(nan)])]
    )
    write_portrait(atlas.path, one)
    seen = describe_heads(atlas)[1]["tasks"][0]
    assert seen["held"] == {"value": None, "low": None, "high": None, "p": 0.001}
    assert seen["strongest"][0]["margin"] is None
    json.loads(as_json(describe_page([atlas])))


def test_graphs_are_carried_with_their_unit(atlas):
    graphs = describe_graphs(atlas)
    assert [graph["task"] for graph in graphs] == ["a", "b"]
    assert graphs[0]["unit"] == "nats of margin, against the twin"
    assert len(graphs[0]["nodes"]) == 6 and len(graphs[0]["edges"]) == 15


def test_an_atlas_without_portraits_has_none(tmp_path):
    atlas = rich_atlas(tmp_path / "atlas", ["a"], (4, 4), methods=["attribute"], tested=())
    assert describe_heads(atlas) == describe_graphs(atlas) == []


def test_a_server_offers_portraits_but_does_not_list_them_among_its_files(atlas):
    assert {"heads/L3H1.json", "heads/graphs.json"} <= set(offered(atlas.path))
    assert "heads/" not in LivePage([atlas.path]).page().split('"files":', 1)[1].split("]", 1)[0]
