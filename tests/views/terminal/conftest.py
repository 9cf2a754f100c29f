import pytest

from tests.atlases import rich_atlas


@pytest.fixture(scope="session")
def full(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal") / "atlas"
    return rich_atlas(folder, shape=(12, 6), unmapped=(), tested=("probe", "gate"))
