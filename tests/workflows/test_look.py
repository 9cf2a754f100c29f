"""From an atlas to portraits of its heads: which heads and tasks, what is written, what is refused."""

import functools
import shutil

import pytest

from headatlas.atlas.atlas import Atlas
from headatlas.atlas.run_record import write_run
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.microscope import removal
from headatlas.suites.suite import Suite
from headatlas.workflows.look import heads_and_tasks, look
from headatlas.workflows.map import map_heads
from tests import tiny
from tests.workflows.dying import Killed, dying
from tests.workflows.planted import SUITE, planted

pytestmark = pytest.mark.usefixtures("nothing_published")
glance = functools.partial(look, model=planted(), suite=SUITE, limit=6)


@pytest.fixture
def said():
    return tiny.Listener()


def files(atlas):
    return {path.name: path.read_bytes() for path in (atlas / "heads").iterdir()}


def test_the_strongest_heads_of_every_task_have_portraits(atlas, said):
    seen = glance(atlas, top=1, reporter=said)
    opened = Atlas(atlas)
    assert set(seen) == set(tiny.HELPERS.values()) == set(opened.heads)
    assert [graph.task for graph in opened.graphs] == ["Colours", "Numbers"]
    for task, head in tiny.HELPERS.items():
        portrait = opened.head(f"l{head[0]}h{head[1]}")
        assert portrait == seen[head] and portrait.name == f"L{head[0]}H{head[1]}"
        (entry,) = portrait.tasks
        assert (entry.task, entry.method, entry.rank) == (task, "ablate", 1)
        assert 2 <= entry.groups <= entry.examples <= 6
        assert entry.total.value > 1 and entry.direct.value > 1
        recorded = opened.run.quantities["ablate"][task]
        assert (entry.metric, entry.baseline) == (recorded.metric, recorded.baseline)
        row = opened.table(task, "ablate", "specific").set_index(["layer", "head"]).loc[head]
        assert entry.specific.value == pytest.approx(row["value"], rel=1e-5)
        assert entry.specific_q == pytest.approx(row["q_value"], rel=1e-5)
        assert len(entry.compared_with) == 5
        assert len({edge.first + edge.second for edge in opened.graphs[0].edges}) == 15
        assert portrait.unavailable == []
    assert said.said[-1].startswith("2 heads in ")
    assert all(len(content) < 20_000 for content in files(atlas).values())


def test_heads_are_looked_at_in_their_tasks(atlas):
    opened = Atlas(atlas)
    colours, numbers = opened.ranking("Colours"), opened.ranking("Numbers")
    assert heads_and_tasks(opened, None, "ablate", "numbers", 2) == {head: ["Numbers"] for head in numbers[:2]}
    (helper,) = heads_and_tasks(opened, [tiny.HELPERS["Colours"]], "ablate", None, 1).values()
    assert helper == ["Colours"]
    last = colours[-1]
    best = min(("Colours", "Numbers"), key=lambda task: opened.ranking(task).index(last))
    assert heads_and_tasks(opened, [last], "ablate", None, 1) == {last: [best]}
    assert heads_and_tasks(opened, [last], "ablate", "Colours", 1) == {last: ["Colours"]}
    assert heads_and_tasks(opened, "top:2:Colours", "ablate", None, 12) == {
        head: ["Colours", "Numbers"] for head in colours[:2]
    }


def test_other_tasks_and_other_heads_stay(atlas, said):
    head, task = tiny.HELPERS["Colours"], "Colours"
    glance(atlas, [head], task="Numbers", reporter=said)
    earlier = files(atlas)
    glance(atlas, [(0, 0), head], task=task, reporter=said)
    opened = Atlas(atlas)
    assert [entry.task for entry in opened.head("L2H0").tasks] == ["Colours", "Numbers"]
    assert [graph.task for graph in opened.graphs] == ["Colours", "Numbers"]
    glance(atlas, [(0, 1)], task=task, reporter=said)
    assert files(atlas)["L0H0.json"] and earlier.keys() < files(atlas).keys()


def test_a_killed_run_is_continued_and_gives_the_same_bytes(atlas, tmp_path, monkeypatch, said):
    whole = shutil.copytree(atlas, tmp_path / "whole")
    glance(whole, top=1, reporter=said)
    plain = removal.measure_under
    monkeypatch.setattr(removal, "measure_under", dying(plain, at=4)[0])
    with pytest.raises(Killed):
        glance(atlas, top=1, reporter=said)
    assert not (atlas / "heads").exists()
    finished = {path.name: path.stat().st_mtime_ns for path in (atlas / "cells").iterdir()}
    monkeypatch.setattr(removal, "measure_under", plain)
    glance(atlas, top=1, reporter=said)
    assert files(atlas) == files(whole)
    now = {path.name: path.stat().st_mtime_ns for path in (atlas / "cells").iterdir()}
    assert finished.items() < now.items(), "what was finished is not computed again"


def test_what_cannot_be_is_said_and_nothing_is_written(atlas, said):
    for asked, message in (
        ({"heads": "L9H9"}, "There is no head L9H9: the model has 3 layers of 4 heads"),
        ({"heads": "best"}, "'best' names no heads. Write L17H4"),
        ({"task": "colour"}, "Unknown task in this atlas 'colour'. Did you mean 'Colours'?"),
        ({"top": 0}, "`top` 0 was asked for; it must be at least 1."),
        ({"limit": 1}, "`limit` 1 was asked for; it must be at least 2."),
        ({"method": "ablation"}, "Unknown method in this atlas 'ablation'"),
    ):
        with pytest.raises(UsageError) as error:
            glance(atlas, reporter=said, **({"limit": 6} | asked))
        assert message in str(error.value)
    with pytest.raises(HeadAtlasError, match="is not the one of this atlas"):
        glance(atlas, suite=Suite("other", SUITE.examples[:40]), reporter=said)
    with pytest.raises(HeadAtlasError, match="is not the model of this atlas"):
        glance(atlas, model=tiny.model(), reporter=said)
    run = Atlas(atlas).run
    run.pending = ["gate"]
    write_run(atlas, run)
    with pytest.raises(HeadAtlasError, match="is not finished. Still to come: gate"):
        glance(atlas, reporter=said)
    assert not (atlas / "heads").exists()


def test_a_head_that_nobody_looked_at(atlas):
    with pytest.raises(HeadAtlasError, match="Nobody has looked at L1H2 in .* yet. Look at it with: headatlas head "):
        Atlas(atlas).head("L1H2")
    with pytest.raises(UsageError, match="'L1' names 4 heads; ask for one at a time"):
        Atlas(atlas).head("L1")


def test_maps_that_are_not_to_be_read_need_a_task(tiny_atlas):
    with pytest.raises(
        HeadAtlasError, match=r"No map of ablate is to be read \(Colours: not competent; .* give `task`"
    ):
        heads_and_tasks(tiny_atlas, None, "ablate", None, 4)
    assert len(heads_and_tasks(tiny_atlas, None, "ablate", "colours", 4)) == 4


def test_portraits_stay_with_their_maps_and_go_with_others(atlas, said):
    glance(atlas, [(0, 0)], task="Colours", reporter=said)
    again = functools.partial(map_heads, planted(), SUITE, out=atlas, reporter=said)
    again(["attribute", "ablate", "probe"], settings={"probe": {"shuffles": 10}})
    assert Atlas(atlas).heads == [(0, 0)]
    again(["attribute"])
    assert Atlas(atlas).heads == [] and Atlas(atlas).graphs == []
