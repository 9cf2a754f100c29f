"""A map and its tests in several lanes of one process have the bytes of one lane."""

import shutil

import pytest

import headatlas as ha
from headatlas.run import crew
from headatlas.workflows.executors import Local
from headatlas.workflows.map import make_map
from tests import tiny
from tests.workflows.same import assert_same


@pytest.fixture
def lanes(monkeypatch):
    """Three lanes of one thread each, for any model; the numbers of lanes that steps had."""
    used, share = [], crew.Crew.share

    def noted(self, units, do, of, watch=lambda: None):
        used.append(self.lanes_of(of))
        share(self, units, do, of, watch)

    monkeypatch.setattr(crew, "planned_lanes", lambda *_: 3)
    monkeypatch.setattr(crew.Crew, "share", noted)
    return used


def test_a_map_in_lanes_has_the_same_bytes(asked, one, tmp_path, lanes):
    make_map(asked, tmp_path / "lanes", Local(threads=1), tiny.Listener())
    assert_same(tmp_path / "lanes", one)
    assert {1, 3} & set(lanes) and max(lanes) == 3


def test_tests_of_a_map_in_lanes_have_the_same_bytes(one, tmp_path, lanes, nothing_published, monkeypatch):
    out = [shutil.copytree(one, tmp_path / name) for name in ("lanes", "alone")]
    ha.verify(out[0], reporter=tiny.Listener(), ks=[1, 2], draws=4)
    assert max(lanes) == 3
    monkeypatch.setattr(crew, "planned_lanes", lambda *_: 1)
    ha.verify(out[1], reporter=tiny.Listener(), ks=[1, 2], draws=4)
    assert (out[0] / "evidence.parquet").read_bytes() == (out[1] / "evidence.parquet").read_bytes()
