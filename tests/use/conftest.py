import functools
import shutil

import pytest

from headatlas.use import examples
from headatlas.workflows import held_out
from headatlas.workflows.map import map_heads
from tests import tiny


@pytest.fixture(scope="session", autouse=True)
def suites_once():
    """Built-in suites are made once: that takes longest, and has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (held_out, examples):
            patch.setattr(module, "load_suite", functools.cache(module.load_suite))
        yield


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


@pytest.fixture(scope="session")
def wavering(tmp_path_factory):
    """An atlas of a random model, which gets some items right and some wrong. To be read, not written."""
    from headatlas.suites.suite import to_jsonl

    folder = tmp_path_factory.mktemp("wavering")
    model = tiny.module(context=512)
    model.save_pretrained(folder / "model")
    tiny.tokenizer().save_pretrained(folder / "model")
    (folder / "tiny.jsonl").write_text(to_jsonl(tiny.suite(72).examples))
    return map_heads(
        folder / "model", folder / "tiny.jsonl", ["attribute"], out=folder / "atlas", at_chance=True, report=False,
        reporter=tiny.Listener(),
    )  # fmt: skip
