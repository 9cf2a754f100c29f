from pathlib import Path

import pytest

from headatlas.progress import Reporter
from tests import tiny


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory) -> Path:
    """A small random model with its tokenizer, as a folder."""
    return tiny.save(tmp_path_factory.mktemp("tiny-model"))


@pytest.fixture(scope="session")
def tiny_tasks(tmp_path_factory) -> Path:
    """Two small tasks, as a task file."""
    from headatlas.suites.suite import to_jsonl

    path = tmp_path_factory.mktemp("tasks") / "tiny.jsonl"
    path.write_text(to_jsonl(tiny.suite().examples))
    return path


@pytest.fixture(scope="session")
def tiny_atlas(tmp_path_factory):
    """A finished atlas of the small model: attribution of all heads, ablation of some."""
    from headatlas.workflows.map import map_heads

    out = tmp_path_factory.mktemp("atlases") / "atlas"
    return map_heads(tiny.model(), tiny.suite(), out=out, at_chance=True, reporter=Reporter(quiet=True))
