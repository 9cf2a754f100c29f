"""Names to models."""

import json
import os
import subprocess
import sys

import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.model.loading import load
from headatlas.progress import Reporter
from tests import tiny

QUIET = Reporter(quiet=True)


def test_a_folder_gives_the_model_in_it(tiny_folder):
    model = load(tiny_folder, reporter=QUIET)
    assert model.fingerprint() == tiny.model().fingerprint()
    assert model.dtype == torch.float32
    assert model.name == tiny_folder.name
    assert not any(parameter.requires_grad for parameter in model.module.parameters())
    assert load(tiny_folder, dtype="bfloat16", reporter=QUIET).dtype == torch.bfloat16


def test_a_module_in_memory_is_used_as_it_is():
    module = tiny.module("gpt2")
    model = load(module, tiny.tokenizer())
    assert model.module is module
    with pytest.raises(HeadAtlasError, match="without its tokenizer"):
        load(module)


def test_a_dispatched_model_is_never_moved(tiny_folder, monkeypatch):
    moved = []
    monkeypatch.setattr(torch.nn.Module, "to", lambda self, *args, **kwargs: moved.append(args) or self)
    load(tiny_folder, device_map="auto", reporter=QUIET)
    assert not [args for args in moved if args and isinstance(args[0], (str, torch.device))]
    load(tiny_folder, device="cpu", reporter=QUIET)
    assert moved, "an ordinary model is placed, so the check above could have failed"


REMOTE = """
from transformers import LlamaConfig, LlamaForCausalLM
open({marker!r}, "w").write("ran")
class Config(LlamaConfig):
    model_type = "own"
class Model(LlamaForCausalLM):
    config_class = Config
"""


def test_code_that_comes_with_a_model_runs_only_when_asked_for(tmp_path, tiny_folder):
    """A folder whose configuration names its own Python file."""
    folder, marker = tmp_path / "own", tmp_path / "marker"
    tiny.save(folder)
    (folder / "own.py").write_text(REMOTE.format(marker=str(marker)))
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(HeadAtlasError, match="Cannot load the model"):
        load(folder, reporter=QUIET)
    assert not marker.exists()
    with pytest.raises(HeadAtlasError, match="'own' is not known to headatlas"):  # loaded, but of an unknown layout
        load(folder, trust_remote_code=True, reporter=QUIET)
    assert marker.read_text() == "ran"


def test_without_network_and_cache_the_error_names_what_was_tried_and_the_alternatives(tmp_path):
    script = "import headatlas as ha\ntry:\n  ha.load('nobody/nothing')\nexcept ha.HeadAtlasError as e:\n  print(e)"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    for part in ("'nobody/nothing'", "not a local folder or GGUF file", "not in the Hugging Face cache",
                 "HF_HUB_OFFLINE", "Without a network use 'smollm2'", "a local folder or a GGUF file"):  # fmt: skip
        assert part in done.stdout


@pytest.mark.parametrize("name", ["foo--bar", "foo..bar", "modèle"])
def test_what_can_be_no_hub_id_is_refused(name):
    with pytest.raises(HeadAtlasError, match="Hub id"):
        load(name, reporter=QUIET)


def test_near_misses_are_offered():
    with pytest.raises(HeadAtlasError, match=r"Unknown model 'smolm2'. Did you mean 'smollm2'\?"):
        load("smolm2", reporter=QUIET)


def test_a_damaged_folder_is_said_in_one_sentence(tmp_path):
    folder = tiny.save(tmp_path / "model")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(HeadAtlasError, match=r"Cannot load the model '.*model'"):
        load(folder, reporter=QUIET)
