import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from headatlas.progress import Reporter
from tests import tiny


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first; the others keep their order."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


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
def tiny_atlas(tmp_path_factory, worker_id):
    """A finished atlas of the small model: attribution of all heads, ablation of some. To be read, not written.

    It takes ten seconds: the first worker that needs it makes it, the others wait for it.
    """
    import headatlas as ha

    folder = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        folder = folder.parent  # of all workers
    finished = folder / "tiny-atlas-finished"
    with FileLock(folder / "tiny-atlas.lock"):
        if not finished.exists():
            ha.map(tiny.model(), tiny.suite(), out=folder / "tiny-atlas", at_chance=True, reporter=Reporter(quiet=True))
            finished.touch()
    return ha.Atlas(folder / "tiny-atlas")


@pytest.fixture(scope="session")
def worker_id(request) -> str:
    """The name of this worker of pytest-xdist; "master" where tests run in one process or without the plugin."""
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


@dataclass(frozen=True)
class Done:
    """What a command left behind, named as in `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command(monkeypatch, capsys) -> Callable[..., Done]:
    """Run the command line in this process: the same exit codes and output, without importing torch every time."""
    from headatlas.cli import main

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["headatlas", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Done(ended.value.code or 0, said.out, said.err)

    return run
