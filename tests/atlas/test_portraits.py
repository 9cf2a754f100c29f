"""Portraits survive writing and reading; what is not one is refused with a reason."""

import json

import numpy as np
import pytest

from headatlas.atlas.portraits import (
    Graph,
    Graphs,
    pack,
    portraits,
    read_graphs,
    read_portrait,
    unpack,
    write_graphs,
    write_portrait,
)
from headatlas.errors import HeadAtlasError
from tests.portraits import portrait


def test_a_portrait_comes_back(tmp_path):
    path = write_portrait(tmp_path, portrait(17, 4))
    assert path == tmp_path / "heads" / "L17H4.json"
    assert read_portrait(path) == portrait(17, 4)


def test_the_same_portrait_gives_the_same_bytes(tmp_path):
    first = write_portrait(tmp_path, portrait()).read_bytes()
    assert write_portrait(tmp_path, portrait()).read_bytes() == first


def test_portraits_are_listed_by_layer_and_head(tmp_path):
    for layer, head in ((10, 0), (2, 1), (2, 0)):
        write_portrait(tmp_path, portrait(layer, head))
    (tmp_path / "heads" / "Lost and Hound.json").write_text("{}")
    assert list(portraits(tmp_path)) == [(2, 0), (2, 1), (10, 0)]


def test_graphs_come_back_and_none_is_no_error(tmp_path):
    assert read_graphs(tmp_path) == []
    graph = Graph(task="Retrieval", metric="margin", baseline="twin", examples=3, nodes=[], edges=[])
    write_graphs(tmp_path, Graphs(graphs=[graph]))
    assert read_graphs(tmp_path) == [graph]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 99}, "has version 99; this headatlas reads version 1"),
        ({"layer": "top"}, "layer: Input should be a valid integer"),
        ({"soul": 1}, "soul: Extra inputs are not permitted"),
    ],
)
def test_what_is_no_portrait_is_refused(tmp_path, change, words):
    path = write_portrait(tmp_path, portrait())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(HeadAtlasError, match=words):
        read_portrait(path)


def test_a_damaged_file_is_refused(tmp_path):
    path = write_portrait(tmp_path, portrait())
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(HeadAtlasError, match="Remove it and look at the head again"):
        read_portrait(path)


def test_attention_is_packed_to_a_byte_per_weight():
    weights = np.tril(np.random.default_rng(0).random((9, 9)))
    assert len(pack(weights)) == 60  # 45 bytes in base64
    assert np.abs(unpack(pack(weights)) - weights).max() <= 0.5 / 255
