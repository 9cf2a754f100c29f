import functools
import shutil

import pytest

from headatlas.workflows import held_out
from headatlas.workflows.map import map_heads
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
