import functools
import shutil

import pytest

from headatlas.workflows import held_out
from headatlas.workflows.executors import Local
from headatlas.workflows.map import make_map, map_heads
from tests import tiny
from tests.workflows.planted import SUITE, planted


@pytest.fixture(scope="module")
def nothing_published():
    """Nothing is published and built-in suites are made once: both take longest, and have tests of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headatlas.workflows.map.publish", lambda *_, **__: None)
        patch.setattr("headatlas.workflows.verify.publish", lambda *_, **__: None)
        patch.setattr("headatlas.workflows.look.publish", lambda *_, **__: None)
        patch.setattr(held_out, "load_suite", functools.cache(held_out.load_suite))
        yield


@pytest.fixture(scope="module")
def mapped(nothing_published, tmp_path_factory):
    """Three methods."""
    out, methods = tmp_path_factory.mktemp("verify") / "atlas", ["attribute", "ablate", "probe"]
    settings = {"probe": {"shuffles": 10}}
    return map_heads(planted(), SUITE, methods, out=out, settings=settings, reporter=tiny.Listener()).path


@pytest.fixture
def atlas(mapped, tmp_path):
    """A copy to write into."""
    return shutil.copytree(mapped, tmp_path / "atlas")


@pytest.fixture(scope="session")
def asked(tiny_folder, tiny_tasks):
    """The parameters of a small map that several processes can make."""
    methods = ["attribute", "ablate", "gate"]
    given = {"model": tiny_folder, "suite": tiny_tasks, "methods": methods, "at_chance": True, "preset": "quick",
             "settings": {"gate": {"steps": 2}}, "report": False, "chat": False, "known_only": False}  # fmt: skip
    rest = ("tasks", "limit", "seeds", "metric", "baseline", "level", "load_options", "command")
    return {**dict.fromkeys(rest), **given}


@pytest.fixture(scope="session")
def one(tmp_path_factory, asked):
    """That map, made by one process with one thread."""
    out = tmp_path_factory.mktemp("one") / "atlas"
    make_map(asked, out, Local(threads=1), tiny.Listener())
    return out
