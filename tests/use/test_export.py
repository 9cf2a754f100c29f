"""Exports, read back as the programs read them for which they are meant."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from huggingface_hub import DatasetCard

from headatlas.atlas.atlas import Atlas
from headatlas.errors import HeadAtlasError
from headatlas.use.export import export
from headatlas.use.formats import FORMATS
from headatlas.wording import head_name
from tests.atlases import Known, write_atlas

GRID = np.array([[0.1, 0.0, 0.5, -0.9], [0.2, 0.3, 0.0, 0.05], [2.0, -0.01, 0.02, 0.4]])


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    return write_atlas(tmp_path_factory.mktemp("export") / "atlas", [Known(GRID)])


def test_csv_has_every_score(mapped, tmp_path):
    (path,) = export(mapped, "csv", tmp_path / "csv")
    rows = pd.read_csv(path)
    assert list(rows.columns.drop("name")) == list(mapped.scores.columns)
    np.testing.assert_array_equal(rows["value"], mapped.scores["value"])
    assert (rows["name"] == [head_name(*head) for head in zip(rows["layer"], rows["head"], strict=True)]).all()
    (path,) = export(mapped, "csv", tmp_path / "one", task="numbers")
    assert set(pd.read_csv(path)["task"]) == {"Numbers"}


def test_json_explains_itself(mapped, tmp_path):
    (path,) = export(mapped, "json", tmp_path / "json")
    record = json.loads(path.read_text())
    assert record["model"]["fingerprint"] == mapped.run.model.fingerprint
    assert [info["name"] for info in record["methods"]] == ["ablate"]
    assert len(record["heads"]) == len(mapped.scores)
    np.testing.assert_array_equal([row["value"] for row in record["heads"]], mapped.scores["value"])
    assert {row["measure"] for row in record["heads"]} <= {m["name"] for m in record["methods"][0]["measures"]}


def test_duo_attention_reads_its_pattern(atlas, tmp_path):
    """As its `load_attn_pattern` reads it: a table of floats, clipped to 0 and 1, and two sizes."""
    export(atlas, "duo", tmp_path / "duo", sinks=4, recent=16)
    heads = np.loadtxt(tmp_path / "duo" / "full_attention_heads.tsv", dtype=float, delimiter="\t")
    config = json.loads((tmp_path / "duo" / "config.json").read_text())
    assert (config["sink_size"], config["recent_size"], config["task"]) == (4, 16, "Task")
    kv = atlas.run.model.kv_heads
    expected = np.clip(GRID, 0, None).reshape(3, kv, -1).max(-1) / 2.0
    assert heads.shape == (3, kv)
    np.testing.assert_array_equal(np.clip(heads, 0, 1), expected)


def test_retrieval_head_reads_its_scores(atlas, tmp_path):
    """As its readme reads them: the first line, means of lists, the largest first."""
    (path,) = export(atlas, "retrieval", tmp_path / "scores")
    with open(path) as file:
        head_list = json.loads(file.readline())
    scored = [([int(part) for part in name.split("-")], np.mean(scores)) for name, scores in head_list.items()]
    ranked = sorted(scored, key=lambda entry: entry[1], reverse=True)
    assert [tuple(head) for head, _ in ranked] == atlas.ranking("Task")
    assert len(scored) == 12 and ranked[0] == ([2, 0], 2.0)


def test_a_dataset_for_the_hub(mapped, tmp_path):
    export(mapped, "hub", tmp_path / "hub")
    card = DatasetCard.load(tmp_path / "hub" / "README.md")
    configs = {entry["config_name"]: entry["data_files"] for entry in card.data.to_dict()["configs"]}
    assert configs["scores"] == "scores.parquet" and "evidence" not in configs, "there is no evidence yet"
    for file in configs.values():
        assert not pd.read_parquet(tmp_path / "hub" / file).empty
    assert yaml.safe_load(card.content.split("---")[1])["pretty_name"] == "Attention heads of original, copying"
    copied = Atlas(tmp_path / "hub")
    pd.testing.assert_frame_equal(copied.scores, mapped.scores)
    for path in (tmp_path / "hub").rglob("*.*"):
        if path.suffix in (".md", ".html", ".json"):
            assert str(mapped.path.parent) not in path.read_text(), f"{path} names a folder of this machine"


def test_the_help_names_every_format(command):
    from headatlas.cli.export import KINDS

    assert list(KINDS) == list(FORMATS)
    assert "full_attention_heads.tsv" in command("export", "--help").stdout


def test_shapes_that_do_not_fit_are_refused(tmp_path):
    cases = {
        "one key-value head": ([Known(np.ones((3, 1)))], "duo", "at least 2 layers and 2 key-value heads"),
        "no number": ([Known(np.array([[1.0, 2], [np.nan, 1]]))], "duo", "has none for L1H0"),
        "nothing positive": ([Known(-np.ones((2, 2)))], "duo", "No head has a positive value"),
    }
    for name, (maps, kind, message) in cases.items():
        atlas = write_atlas(tmp_path / name, maps)
        with pytest.raises(HeadAtlasError, match=message):
            export(atlas, kind, tmp_path / f"{name}-out")
        assert not (tmp_path / f"{name}-out").exists()


def test_bad_requests_are_one_sentence_and_leave_nothing(mapped, tmp_path, command):
    for code, message, arguments in (
        (2, "Unknown format 'cvs'. Did you mean 'csv'", ("--format", "cvs")),
        (2, "Unknown task in this atlas 'Colors'. Did you mean 'Colours'", ("--format", "duo", "--task", "Colors")),
        (1, "This atlas has maps of 2 tasks: Colours, Numbers. Say which with --task", ("--format", "duo")),
        (2, "Unknown method in this atlas 'gate'", ("--format", "csv", "--method", "gate")),
        (2, "--sinks 0 was asked for; it must be at least 1", ("--format", "duo", "--sinks", 0)),
    ):
        done = command("export", mapped.path, *arguments, "-o", tmp_path / "out")
        assert (done.returncode, done.stdout) == (code, ""), (arguments, done.stderr)
        assert message in done.stderr and done.stderr.count("\n") == 1
        assert list(tmp_path.iterdir()) == []
