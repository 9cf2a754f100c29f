"""Cells: computed once, reused, never mixed up, never half-written."""

import json
import resource
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from safetensors import safe_open

from headatlas.errors import HeadAtlasError
from headatlas.progress import Reporter, say_share
from headatlas.run.cells import Cell, CellKind, Runner

COUNTING = CellKind("counting")


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path / "cells", Reporter(quiet=True))


def counting(inputs, calls, kind=COUNTING):
    def compute():
        calls.append(inputs)
        return {"x": np.arange(3.0) + inputs["seed"]}

    return Cell(kind, inputs, compute, tokens=1)


def test_a_cell_is_computed_once_and_found_by_another_runner(runner):
    calls = []
    first = runner.run("", [counting({"seed": 1}, calls), counting({"seed": 2}, calls)])
    other = Runner(runner.folder, Reporter(quiet=True))
    second = other.run("", [counting({"seed": 2}, calls), counting({"seed": 1}, calls)])
    assert len(calls) == 2
    assert (len(other.reused), len(other.computed)) == (2, 0)
    np.testing.assert_array_equal(first[0]["x"], second[1]["x"])
    np.testing.assert_array_equal(second[0]["x"], [2, 3, 4])


def test_views_are_written_as_what_they_show(runner):
    table = np.arange(6.0).reshape(3, 2)
    cell = Cell(COUNTING, {"seed": 1}, lambda: {"column": table.T[1]}, tokens=1)
    runner.run("", [cell])
    other = Runner(runner.folder, Reporter(quiet=True))
    (cached,) = other.run("", [cell])
    np.testing.assert_array_equal(cached["column"], [1, 3, 5])
    assert other.reused == {cell.key}


def test_the_key_depends_on_the_kind_its_version_and_the_inputs_and_on_nothing_else():
    one = Cell(COUNTING, {"a": 1, "b": [1, 2]}, dict, tokens=1)
    same = Cell(COUNTING, {"b": [1, 2], "a": 1}, lambda: {"y": np.zeros(1)}, tokens=9)
    others = [
        Cell(COUNTING, {"a": 1, "b": [2, 1]}, dict, 1),
        Cell(CellKind("other"), {"a": 1, "b": [1, 2]}, dict, 1),
        Cell(CellKind("counting", 2), {"a": 1, "b": [1, 2]}, dict, 1),
    ]
    assert one.key == same.key
    assert len({one.key, *(other.key for other in others)}) == 4


def test_a_raised_version_computes_the_cells_of_that_kind_again_and_no_others(runner):
    calls = []
    other = CellKind("other")
    runner.run("", [counting({"seed": 1}, calls), counting({"seed": 1}, calls, other)])
    again = Runner(runner.folder, Reporter(quiet=True))
    raised = counting({"seed": 1}, calls, COUNTING._replace(version=2))
    again.run("", [raised, counting({"seed": 1}, calls, other)])
    assert again.computed == {raised.key}
    assert len(again.reused) == 1
    assert len(calls) == 3


def test_the_file_of_a_cell_says_what_its_numbers_depend_on(runner):
    cell = counting({"seed": 1}, [])
    runner.run("", [cell])
    with safe_open(runner.path(cell), framework="np") as file:
        assert json.loads(file.metadata()["inputs"]) == {"kind": ["counting", 1], "seed": 1}


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "noise"])
def test_a_damaged_cell_is_computed_again(runner, damage):
    calls = []
    cell = counting({"seed": 1}, calls)
    runner.run("", [cell])
    path = runner.path(cell)
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[-3] ^= 0xFF
    path.write_bytes({"cut": content[:-5], "flip": content, "empty": b"", "noise": b"not safetensors"}[damage])
    (again,) = runner.run("", [cell])
    assert len(calls) == 2
    np.testing.assert_array_equal(again["x"], [1, 2, 3])
    (cached,) = Runner(runner.folder, Reporter(quiet=True)).run("", [cell])
    assert len(calls) == 2
    np.testing.assert_array_equal(cached["x"], [1, 2, 3])


def test_a_result_that_is_not_finite_is_not_kept(runner):
    bad = Cell(CellKind("ablation"), {}, lambda: {"effects": np.array([1.0, np.nan])}, tokens=1)
    with pytest.raises(HeadAtlasError, match=r"not finite \(effects of ablation\)"):
        runner.run("", [bad])
    assert not runner.path(bad).exists()


def test_an_exception_keeps_what_was_finished(runner):
    calls = []

    def fail():
        raise RuntimeError("power cut")

    with pytest.raises(
        HeadAtlasError, match=r"1 of 2 cells of Counting failed; the others are done. counting: RuntimeError: power cut"
    ):
        runner.run("Counting", [Cell(COUNTING, {"seed": 9}, fail, 1), counting({"seed": 1}, calls)])
    assert [path.suffix for path in runner.folder.iterdir()] == [".safetensors"]


def test_the_bar_moves_while_a_group_is_computed(tmp_path):
    moves: list[tuple[float, int]] = []

    class Watched(Reporter):
        @contextmanager
        def bar(self, text, cells, tokens):
            yield lambda tokens, cells=1: moves.append((tokens, cells))

    def long():
        say_share(0.5)
        return {"x": np.zeros(1)}

    group = [
        Cell(COUNTING, {"seed": 1}, long, tokens=30, group="both"),
        Cell(COUNTING, {"seed": 2}, lambda: {"x": np.zeros(1)}, tokens=10, group="both"),
    ]
    Runner(tmp_path, Watched()).run("", group)
    assert moves == [(20, 0), (10, 1), (10, 1)]


FULL_DISK = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from headatlas.run.cells import Cell, CellKind, Runner
from headatlas.errors import HeadAtlasError
from headatlas.progress import Reporter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
runner = Runner(Path(sys.argv[1]), Reporter(quiet=True))
small = Cell(CellKind("zeros"), {"n": 1}, lambda: {"x": np.zeros(8)}, 1)
large = Cell(CellKind("zeros"), {"n": 2}, lambda: {"x": np.zeros(100_000)}, 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    runner.run("", [small, large])
except HeadAtlasError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on file sizes")
def test_a_full_disk_is_said_in_words_and_loses_nothing(tmp_path):
    """A file-size limit makes the kernel refuse the write, as a full disk does."""
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)
    assert "no room left. Nothing that was finished is lost. Make room and run the same command again." in done.stdout
    assert len(list(tmp_path.iterdir())) == 1  # the small cell; no temporary file


def test_a_folder_that_cannot_be_written_is_said_in_words(tmp_path):
    (tmp_path / "file").write_text("")
    runner = Runner(tmp_path / "file" / "cells", Reporter(quiet=True))
    with pytest.raises(HeadAtlasError, match=r"Cannot write .*Not a directory"):
        runner.run("", [Cell(COUNTING, {}, lambda: {"x": np.zeros(1)}, 1)])
