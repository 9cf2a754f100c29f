import shutil

import pytest

from headatlas.workflows.map import map_heads
from tests import tiny
from tests.workflows.conftest import nothing_published  # noqa: F401


@pytest.fixture(scope="session")
def planted_folder(tmp_path_factory):
    """A model whose heads copy colours and numbers, as a folder."""
    folder = tmp_path_factory.mktemp("planted") / "original"
    model = tiny.planted(context=512)
    model.module.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def copying_file(tmp_path_factory):
    from headatlas.suites.suite import to_jsonl

    path = tmp_path_factory.mktemp("copying") / "copying.jsonl"
    path.write_text(to_jsonl(tiny.copying(48).examples))
    return path


@pytest.fixture(scope="session")
def mapped(planted_folder, copying_file, tmp_path_factory):
    """An atlas of that model, by exact ablation. To be read, not written."""
    out = tmp_path_factory.mktemp("use") / "atlas"
    return map_heads(planted_folder, copying_file, ["ablate"], out=out, report=False, reporter=tiny.Listener())


@pytest.fixture
def atlas_folder(mapped, tmp_path):
    """A copy to write into."""
    return shutil.copytree(mapped.path, tmp_path / "atlas")
