"""Names to models."""

import json
import os
import subprocess
import sys

import gguf
import pytest
import torch
from transformers import AutoModelForCausalLM

from headatlas.errors import HeadAtlasError
from headatlas.model import stored
from headatlas.model.loading import load
from headatlas.progress import Reporter
from headatlas.workflows.plan import plan_map
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


def test_weights_that_do_not_fit_are_refused_before_they_are_loaded(tiny_folder, monkeypatch):
    monkeypatch.setattr(stored, "free_memory", lambda device: 150_000)
    read = []
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda *args, **kwargs: read.append(args))
    with pytest.raises(HeadAtlasError) as refused:
        load(tiny_folder, device="cpu", reporter=QUIET)
    assert str(refused.value).startswith(f"The weights of {tiny_folder.name} take 0.0002 GB in float32, and 0.00015 GB")
    assert '`dtype` "bfloat16" (9.8e-05 GB), `quantize` 8 or 4, or `device_map` "auto"' in str(refused.value)
    assert not read


def test_weights_that_fit_in_another_dtype_or_place_are_loaded(tiny_folder, monkeypatch):
    monkeypatch.setattr(stored, "free_memory", lambda device: 150_000)
    assert load(tiny_folder, dtype="bfloat16", device="cpu", reporter=QUIET).dtype == torch.bfloat16
    assert load(tiny_folder, device_map="auto", reporter=QUIET).dtype == torch.float32


def test_a_checkpoint_in_shards_is_the_same_model(tmp_path, tiny_folder):
    tiny.module().save_pretrained(tmp_path / "model", max_shard_size="60KB")
    tiny.tokenizer().save_pretrained(tmp_path / "model")
    shards = sorted(path.name for path in (tmp_path / "model").glob("*.safetensors"))
    assert len(shards) > 2 and shards[0] == f"model-00001-of-{len(shards):05d}.safetensors"
    whole, parts = load(tiny_folder, reporter=QUIET), load(tmp_path / "model", reporter=QUIET)
    assert parts.fingerprint() == whole.fingerprint()
    for (name, weight), (other, same) in zip(*(m.module.state_dict().items() for m in (whole, parts)), strict=True):
        assert name == other and torch.equal(weight, same)
    for dtype in (torch.float32, torch.bfloat16, "auto"):
        assert stored.weight_bytes(tmp_path / "model", dtype) == stored.weight_bytes(tiny_folder, dtype)
    assert stored.weight_bytes(tiny_folder, torch.bfloat16) == 2 * 48_864
    (tmp_path / "model" / shards[1]).unlink()
    with pytest.raises(HeadAtlasError, match="Cannot load the model"):
        load(tmp_path / "model", reporter=QUIET)
    plan = plan_map(tmp_path / "model", tiny.suite(), ["attention"], load_weights=False, tokens_per_second=1)
    assert plan.sizes.weights == 4 * 48_864  # from the configuration, without reading a shard


def test_a_damaged_gguf_file_is_refused_and_the_reader_of_others_is_left_as_it_was(tmp_path):
    before = gguf.GGUFReader, gguf.get_tensor_name_map
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(HeadAtlasError, match="Cannot load the model"):
        load(tmp_path / "broken.gguf", reporter=QUIET)
    assert (gguf.GGUFReader, gguf.get_tensor_name_map) == before
