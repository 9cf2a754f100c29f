"""Methods that compare tasks, where there is only one: refused if they were named, left out if not."""

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.methods.attribute import Attribute
from headatlas.methods.probe.probe import Probe
from headatlas.registry import Registry
from headatlas.suites.suite import Suite
from headatlas.workflows.choose_methods import usable_methods
from headatlas.workflows.map import map_heads
from tests import tiny


@pytest.fixture
def two_methods(monkeypatch):
    """Attribution and the probe are all there is, and nothing is published."""
    known = Registry("method", {"attribute": Attribute, "probe": Probe})
    monkeypatch.setattr("headatlas.workflows.choose_methods.METHODS", known)
    monkeypatch.setattr("headatlas.workflows.map.publish", lambda *_, **__: None)


def test_one_task_cannot_be_probed(tmp_path, two_methods):
    suite, said = tiny.suite(tasks=("Colours",)), tiny.Listener()
    with pytest.raises(HeadAtlasError, match="The method 'probe' compares tasks, and only 'Colours' is to be mapped"):
        map_heads(tiny.model(), suite, ["probe"], at_chance=True, out=tmp_path / "a", reporter=said)
    assert not (tmp_path / "a").exists()
    with pytest.raises(HeadAtlasError, match="The method 'probe' compares tasks"):
        map_heads(tiny.model(), suite, ["attribute", "probe"], at_chance=True, out=tmp_path / "a", reporter=said)
    atlas = map_heads(tiny.model(), suite, at_chance=True, out=tmp_path / "b", reporter=said)
    assert atlas.methods == ["attribute"]
    assert "probe is left out: it compares tasks, and there is only Colours." in said.said


def test_where_only_one_task_is_left_after_judging_the_probe_is_left_out(tmp_path, two_methods):
    """A second task that the model cannot do: right answers are never the word of the prompt."""
    wrong = [
        e.model_copy(update={"answer": e.distractors[0], "distractors": (e.answer,)})
        for e in tiny.copying(36).of("Numbers")
    ]
    suite = Suite("half", (*tiny.copying(36).of("Colours"), *wrong))
    said = tiny.Listener()
    atlas = map_heads(tiny.planted(), suite, out=tmp_path / "a", reporter=said)
    assert atlas.tasks == ["Colours"]
    assert any("probe is left out" in text for text in said.said)
    with pytest.raises(HeadAtlasError, match="only 'Colours' is to be mapped"):
        map_heads(tiny.planted(), suite, ["probe"], out=tmp_path / "b", reporter=said)


def test_methods_that_can_map_so_few_tasks_are_usable():
    both = (Attribute(), Probe())
    assert usable_methods(both, ["Colours", "Numbers"], named=True) == both
    assert usable_methods(both, ["Colours"], named=False) == both[:1]
    with pytest.raises(HeadAtlasError, match="The method 'probe' compares tasks"):
        usable_methods(both[1:], ["Colours"], named=False)
