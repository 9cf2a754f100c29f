"""What a comparison leaves on the disk."""

import json

import numpy as np
import pytest

from headatlas.errors import UsageError
from headatlas.patterns.compare import compare
from headatlas.workflows.compare import write_comparison
from tests.atlases import write_atlas
from tests.patterns.compare.pairs import SHAPE, examples, known
from tests.patterns.compare.test_depth import peaked


@pytest.fixture
def comparison(tmp_path):
    rng = np.random.default_rng(0)
    effect = 3 * rng.standard_normal(SHAPE)
    return compare(*(write_atlas(tmp_path / n, [known(examples(effect, rng), task="A")]) for n in ("one", "two")))


def test_the_record_holds_every_number(comparison, tmp_path):
    paths = write_comparison(comparison, tmp_path / "out")
    assert sorted(path.name for path in paths) == sorted(path.name for path in (tmp_path / "out").iterdir())
    record = json.loads((tmp_path / "out" / "compare.json").read_text())
    (task,) = record["tasks"]
    assert [side["label"] for side in record["sides"]] == ["one", "two"] and record["by"] == "heads"
    assert task["correlation"]["low"] == comparison.tasks[0].correlation.low
    assert len(task["heads"]) == 96 and task["heads"][0]["q_value"] == comparison.heads()["q_value"][0]
    assert task["shared"] == [list(head) for head in comparison.tasks[0].shared]
    assert record["remarks"] == list(comparison.remarks)


def test_what_is_not_known_is_null(tmp_path):
    rng = np.random.default_rng(0)
    atlases = [write_atlas(tmp_path / n, [peaked(layers, 6, 0.3, rng)]) for n, layers in (("a", 24), ("b", 12))]
    (atlases[0].path / "noise.parquet").unlink()
    write_comparison(compare(*atlases), tmp_path / "out")
    (task,) = json.loads((tmp_path / "out" / "compare.json").read_text())["tasks"]
    assert task["correlation"]["low"] is None and task["centres"]["difference"]["high"] is None
    assert len(task["profiles"]) == 2 and len(task["profiles"][0]) == 12


def test_a_file_is_no_folder(comparison, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file; give a folder"):
        write_comparison(comparison, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"
