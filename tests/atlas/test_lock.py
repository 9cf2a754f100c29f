"""One process at a time writes an atlas."""

import pytest
from filelock import FileLock

from headatlas.atlas.lock import locked
from headatlas.errors import HeadAtlasError


def test_the_folder_is_made_and_the_lock_is_given_back(tmp_path):
    folder = tmp_path / "a" / "b"
    busy = pytest.raises(HeadAtlasError, match=r"Another process is writing the atlas .*b. Wait for it")
    with locked(folder), busy, locked(folder):
        pass
    with locked(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()


def test_a_lock_that_another_holds_is_respected(tmp_path):
    with FileLock(tmp_path / ".lock"), pytest.raises(HeadAtlasError, match="choose another `out`"), locked(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(HeadAtlasError, match="Cannot use the folder .*file/atlas"), locked(tmp_path / "file" / "atlas"):
        pass
