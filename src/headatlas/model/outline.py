"""A model known by its configuration alone: all shapes, no weights. It can be planned for and not run."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from headatlas.errors import HeadAtlasError, UsageError
from headatlas.model import bundled
from headatlas.model.families import family_of
from headatlas.model.heads import HeadModel
from headatlas.model.loading import choose_dtype, planned_device, silence
from headatlas.model.quantizing import checked_bits
from headatlas.model.sharing import Sharing, turns_by_length

WEIGHTS = ("*.safetensors", "*.bin")


class Outline(HeadModel):
    """A module on torch's meta device. Forwards are taken to share what those of all known families share."""

    folder: Path | None = None  # where its weights could be loaded from
    quantized: int | None = None  # bits in which the weights of its layers would be loaded

    @property
    def device(self) -> torch.device:
        return torch.device("meta")

    @cached_property
    def sharing(self) -> Sharing:
        return Sharing(layers=True, prefix=not turns_by_length(self), last_layer=True, tokens=True)

    def fingerprint(self) -> str:
        """A hash of the configuration: there are no weights."""
        text = json.dumps(self.module.config.to_dict(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_outline(
    source: Any,
    tokenizer: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
    quantize: int | str | None = None,
) -> Outline:
    """The outline of "smollm2", a folder, a configuration file (JSON), a Hub id in the local cache, or a configuration
    of transformers. Nothing is fetched. Its tokenizer is the one beside it, or that of the folder `tokenizer`; None
    where there is none."""
    folder, config, name = _find(source)
    with silence():
        reading = tokenizer if tokenizer is not None else folder
        found = _tokenizer(Path(reading), required=tokenizer is not None) if reading is not None else None
        outline = Outline(_build(config, choose_dtype(dtype, planned_device(device)), name), found, name)
    if quantize is not None:
        outline.quantized = checked_bits(quantize)
    if folder is not None and any(any(folder.glob(pattern)) for pattern in WEIGHTS):
        outline.folder = folder
    return outline


def _find(source: Any) -> tuple[Path | None, Any, str]:
    """The folder of a model (where it has one), its configuration and its name."""
    if hasattr(source, "model_type"):  # a configuration
        return None, source, source._name_or_path or source.model_type
    path = bundled.folder() if str(source) == bundled.NAME else Path(source).expanduser()
    if str(source) == bundled.NAME and not bundled.is_complete(path):
        raise HeadAtlasError(f"{bundled.NAME} is not here yet. Fetch it first: headatlas models fetch")
    if path.is_file():
        return None, _read_config(path), path.parent.name if path.stem == "config" else path.stem
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UsageError(f"The folder {path} holds no model: there is no config.json in it.")
        name = bundled.NAME if str(source) == bundled.NAME else path.resolve().name
        return path, _read_config(path / "config.json"), name
    cached = _cached(str(source))
    if cached is None:
        raise UsageError(
            f"There is no folder or configuration file {str(source)!r}, and the Hugging Face cache has no such model. "
            "Give a config.json, a folder, or a Hub id that was downloaded."
        )
    return cached.parent, _read_config(cached), str(source)


def _cached(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


def _read_config(path: Path) -> Any:
    from transformers import CONFIG_MAPPING, AutoConfig

    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UsageError(f"{path} cannot be read as JSON; give the config.json of a model.") from None
    if not isinstance(entries, dict) or not isinstance(entries.get("model_type"), str):
        raise UsageError(f"{path} is not the configuration of a model: it has no model_type.")
    if entries["model_type"] not in CONFIG_MAPPING:
        raise HeadAtlasError(
            f"transformers {version('transformers')} does not know the model_type {entries['model_type']!r} of {path}. "
            "Look for a slip of the pen, or install a newer transformers."
        )
    try:
        config = type(AutoConfig.for_model(entries["model_type"])).from_dict(entries)
    except Exception as error:  # whatever a damaged file leads to
        raise HeadAtlasError(f"transformers cannot read the configuration {path}: {_reason(error)}") from None
    # transformers fills in what is missing, and would plan for a model of some other size.
    heads, text = family_of(config).heads, entries.get("text_config", entries)
    names = {heads, getattr(type(config), "attribute_map", {}).get(heads, heads)}
    if not names & set(text):
        raise UsageError(f"{path} does not say how many attention heads the model has ({heads}).")
    return config


def _build(config: Any, dtype: Any, name: str) -> Any:
    """The module on the meta device; the weights of a quantised model count in the dtype they are computed in."""
    from transformers import AutoModelForCausalLM

    family_of(config)
    config.__dict__.pop("quantization_config", None)
    if dtype == "auto":
        dtype = getattr(config, "dtype", None) or torch.float32
    try:
        with torch.device("meta"):
            return AutoModelForCausalLM.from_config(config, dtype=dtype)
    except Exception as error:
        raise HeadAtlasError(
            f"transformers cannot build a model from the configuration of {name}: {_reason(error)}"
        ) from None


def _reason(error: Exception) -> str:
    """The last of the errors that one error tells of, in one line."""
    last = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
    return last.strip()[:300]


def _tokenizer(folder: Path, required: bool) -> Any:
    from transformers import AutoTokenizer

    if not required and not any(folder.glob("tokenizer*")) and not any(folder.glob("vocab*")):
        return None
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception:  # readers raise whatever a damaged or foreign file leads them into
        raise HeadAtlasError(f"There is no tokenizer in {folder} that transformers can read.") from None
