"""Models by their configuration alone."""

import json

import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.model import bundled
from headatlas.model.outline import read_outline
from headatlas.model.sharing import Sharing
from tests import tiny


def write(path, **entries):
    path.write_text(json.dumps(entries))
    return path


def test_an_outline_has_the_shape_of_its_model(tiny_folder):
    outline, model = read_outline(tiny_folder), tiny.model()
    assert (outline.shape, outline.n_kv_heads, outline.head_dim) == (model.shape, model.n_kv_heads, model.head_dim)
    assert outline.kv_groups == model.kv_groups and outline.dtype == torch.float32
    assert outline.sharing == Sharing(True, True, True, True) == model.sharing
    assert outline.folder == tiny_folder and outline.name == tiny_folder.name
    assert outline.tokenizer("the red box")["input_ids"] == model.tokenizer("the red box")["input_ids"]


def test_a_configuration_file_has_no_tokenizer_and_no_weights(tiny_folder):
    outline = read_outline(tiny_folder / "config.json", dtype="bfloat16")
    assert outline.tokenizer is None and outline.folder is None and outline.dtype == torch.bfloat16
    with_one = read_outline(tiny_folder / "config.json", tokenizer=tiny_folder)
    assert with_one.tokenizer("red")["input_ids"] == tiny.tokenizer()("red")["input_ids"]
    assert with_one.fingerprint() != read_outline(tiny.configs()["gpt2"]).fingerprint()


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"hidden_size": 8}, "is not the configuration of a model: it has no model_type."),
        ({"model_type": "nonsense"}, "does not know the model_type 'nonsense'"),
        ({"model_type": "llama", "hidden_size": 64}, "does not say how many attention heads the model has"),
        (
            {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 7},
            "transformers cannot read the configuration .*: .*64.*not a multiple of the number of attention heads .7.",
        ),
        ({"model_type": "mamba", "hidden_size": 64}, "The architecture 'mamba' is not known to headatlas"),
        (
            {"model_type": "llama", "hidden_size": "wide", "num_attention_heads": 4},
            "transformers cannot",
        ),
    ],
)
def test_configurations_that_cannot_be_planned_for(tmp_path, entries, message):
    with pytest.raises(HeadAtlasError, match=message):
        read_outline(write(tmp_path / "config.json", **entries))


def test_heads_may_be_named_as_the_family_names_them(tmp_path):
    sizes = {"n_embd": 32, "n_layer": 3, "n_head": 4, "vocab_size": 100}
    assert read_outline(write(tmp_path / "config.json", model_type="gpt2", **sizes)).shape == (3, 4)


def test_what_is_not_there(tmp_path, monkeypatch):
    with pytest.raises(HeadAtlasError, match="There is no folder or configuration file 'nowhere/at-all'"):
        read_outline("nowhere/at-all")
    with pytest.raises(HeadAtlasError, match="holds no model: there is no config.json"):
        read_outline(tmp_path)
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(HeadAtlasError, match="broken.json cannot be read as JSON; give the config.json of a model."):
        read_outline(tmp_path / "broken.json")
    with pytest.raises(HeadAtlasError, match="There is no tokenizer in"):
        read_outline(tiny.configs()["llama"], tokenizer=tmp_path)
    monkeypatch.setattr(bundled, "is_complete", lambda _: False)
    with pytest.raises(HeadAtlasError, match="smollm2 is not here yet. Fetch it first: headatlas models fetch"):
        read_outline("smollm2")
