import pytest

from tests.atlases import HOSTILE, rich_atlas
from tests.atlases.portraits import write_portraits


def with_graphs(atlas):
    write_portraits(atlas, [])
    return atlas


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    """Everything that a figure can show; all tasks mapped, one of them though the model cannot do it."""
    folder = tmp_path_factory.mktemp("figures") / "atlas"
    atlas = rich_atlas(folder, unmapped=(), at_chance=("Syntactic Understanding",), tested=("probe", "gate"), draws=50)
    return with_graphs(atlas)


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures") / "atlas"
    return with_graphs(rich_atlas(folder, ["a", "b"], (6, 4), draws=3, ks=(2, 4)))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures") / "atlas"
    return with_graphs(rich_atlas(folder, HOSTILE, (6, 4), draws=3, ks=(1, 3)))
