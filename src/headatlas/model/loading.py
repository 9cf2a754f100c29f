"""Names to models: the bundled one, a local folder, a GGUF file, a Hub id, or a module already in memory."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import threading
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headatlas.errors import HeadAtlasError, UsageError, unknown
from headatlas.model import bundled
from headatlas.model.heads import HeadModel
from headatlas.model.quantizing import leave_as_loaded, quantization
from headatlas.model.stored import check_room
from headatlas.progress import Reporter

DTYPES = {"auto": "auto", "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
PARSING = threading.Lock()  # one GGUF file at a time


def load(
    source: str | Path | nn.Module,
    tokenizer: Any = None,
    *,
    dtype: str | torch.dtype | None = None,
    device: str | None = None,
    device_map: str | dict[str, Any] | None = None,
    quantize: int | str | None = None,
    trust_remote_code: bool = False,
    reporter: Reporter | None = None,
) -> HeadModel:
    """Load a causal language model and open the seam to its heads.

    `source` is "smollm2" (bundled), a folder, a GGUF file, a Hub id, or a module (then with its tokenizer). The dtype
    is float32 on a CPU and that of the checkpoint elsewhere. With `device_map`, placing is left to accelerate and
    `device` may not be given. With `quantize` (8 or 4), matrices of the layers are packed into so many bits by
    bitsandbytes. Code that comes with a model runs only with `trust_remote_code`.
    """
    if isinstance(source, nn.Module):
        if tokenizer is None:
            raise UsageError("A module was given without its tokenizer: headatlas.load(module, tokenizer).")
        return HeadModel(source, tokenizer)
    if device_map is not None and device is not None:
        raise UsageError(f"Both device={device!r} and device_map={device_map!r} were given; give one of them.")
    target = _device(device) if device_map is None else None
    kwargs: dict[str, Any] = {
        "dtype": _dtype(dtype, target),
        "device_map": device_map,
        "trust_remote_code": trust_remote_code,
    }
    if quantize is not None:  # packed while they are loaded, so they have to be placed then too
        kwargs["quantization_config"] = quantization(quantize, kwargs["dtype"])
        kwargs["device_map"], target = device_map or {"": target}, None
    reporter = reporter or Reporter()
    module, tokenizer, name = _read(str(source), kwargs, target, reporter)
    module.requires_grad_(False)
    leave_as_loaded(module)
    if target is not None:
        module.to(target)
    return HeadModel(module, tokenizer, name)


def _read(
    source: str, kwargs: dict[str, Any], target: torch.device | None, reporter: Reporter
) -> tuple[nn.Module, Any, str]:
    """Module, tokenizer and name of what `source` means; refuses before anything is loaded."""
    path = bundled.fetch(reporter) if source == bundled.NAME else Path(source).expanduser()
    if path.is_file():
        if path.suffix.lower() != ".gguf":
            raise UsageError(f"{path} is a file but not a GGUF file (.gguf). Give a GGUF file or a model folder.")
        if "quantization_config" in kwargs:
            raise UsageError(f"{path} is a GGUF file, which is unpacked when it is loaded; leave out `quantize`.")
        with reporter.spinner(f"Loading {path.name}"):
            return *read_gguf(path, **kwargs), path.stem
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UsageError(f"The folder {path} holds no model: there is no config.json in it.")
        name = source if source == bundled.NAME else path.resolve().name
        if target is not None:
            check_room(path, name, kwargs["dtype"], target)
        with reporter.spinner(f"Loading {name}"):
            return *_pretrained(str(path), source, **kwargs), name
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", source):
        raise UsageError(f"There is no folder or GGUF file {source!r}, and it cannot be a Hub id either.")
    if "/" not in source and get_close_matches(source.casefold(), [bundled.NAME], cutoff=0.75):
        raise unknown("model", source, [bundled.NAME, "a folder", "a GGUF file", "a Hub id such as org/name"])
    with reporter.spinner(f"Loading {source}"):
        return *_from_hub(source, kwargs, target), source


def _from_hub(name: str, kwargs: dict[str, Any], target: torch.device | None) -> tuple[nn.Module, Any]:
    """From the Hugging Face cache where it is there; the network is asked only when it is not."""
    from huggingface_hub import constants, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError as error:
        raise UsageError(f"{name!r} is no folder, no GGUF file and no Hub id: {error}") from None
    cached = isinstance(found, str)
    if isinstance(found, str) and target is not None:
        check_room(Path(found).parent, name, kwargs["dtype"], target)
    if constants.HF_HUB_OFFLINE:
        if not cached:
            raise _offline(name, "HF_HUB_OFFLINE forbids asking the Hub")
        return _pretrained(name, name, local_files_only=True, **kwargs)
    if cached:
        with contextlib.suppress(HeadAtlasError):  # an interrupted download is completed below
            return _pretrained(name, name, local_files_only=True, **kwargs)
    _ask_hub(name)
    return _pretrained(name, name, **kwargs)


def _ask_hub(name: str) -> None:
    """One short question before the download, because its own retries take half a minute without a network."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, timeout=10)
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "no status"
        raise HeadAtlasError(f"The Hub has no model {name!r} that you may read (it answered {status}).") from None
    except Exception:  # every transport has its own family of connection errors
        raise _offline(name, "the Hugging Face Hub did not answer") from None


def _offline(name: str, reason: str) -> HeadAtlasError:
    return HeadAtlasError(
        f"Cannot load {name!r}: it is not a local folder or GGUF file, it is not in the Hugging Face cache, and "
        f"{reason}. Without a network use {bundled.NAME!r} (if it was fetched before), a local folder or a GGUF file."
    )


def _pretrained(location: str, name: str, **kwargs: Any) -> tuple[nn.Module, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer_kwargs = {key: kwargs[key] for key in ("trust_remote_code", "local_files_only") if key in kwargs}
    with silence():
        try:
            module = AutoModelForCausalLM.from_pretrained(location, **kwargs)
            return module, AutoTokenizer.from_pretrained(location, **tokenizer_kwargs)
        except Exception as error:  # readers raise whatever a damaged or foreign file leads them into
            raise _unreadable(name, error) from None


def read_gguf(path: Path, **kwargs: Any) -> tuple[nn.Module, Any]:
    """A GGUF file as a dequantised module and its tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with silence(), _parsed_once():
        try:
            module = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, **kwargs)
            tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        except Exception as error:
            raise _unreadable(str(path), error) from None
    # The weights are plain tensors now; transformers would refuse to save them as long as it calls them quantised.
    module.hf_quantizer = None
    module.config.__dict__.pop("quantization_config", None)
    return module, tokenizer


@contextlib.contextmanager
def _parsed_once() -> Iterator[None]:
    """transformers parses a GGUF file again for its configuration, its weights and its tokenizer, and makes the table
    of names again for every tensor: most of the time of a small model. Inside, each is made once."""
    import gguf

    with PARSING:
        before = gguf.GGUFReader, gguf.get_tensor_name_map
        gguf.GGUFReader, gguf.get_tensor_name_map = (functools.cache(make) for make in before)
        try:
            yield
        finally:
            gguf.GGUFReader, gguf.get_tensor_name_map = before


def _unreadable(name: str, error: Exception) -> HeadAtlasError:
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return HeadAtlasError(f"Cannot load the model {name!r}: {reason}")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """transformers draws bars of its own and warns about things that do not concern our users."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(level)


def planned_device(name: str | None) -> torch.device:
    """The device that `load` would take, which need not be on this machine."""
    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type == "meta":  # it holds no numbers
        raise UsageError(f"There is no device {name!r}. Give cpu, cuda, cuda:1 or another one that torch has.")
    return device


def is_here(device: torch.device) -> bool:
    """Whether this machine has a device."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        return False
    return True


def _device(name: str | None) -> torch.device:
    device = planned_device(name)
    if not is_here(device):
        raise UsageError(f"The device '{device}' cannot be used on this machine. Try 'cpu'.")
    return device


def choose_dtype(dtype: str | None, device: torch.device) -> Any:
    """The dtype that `load` would take: a torch dtype, or "auto" for that of the checkpoint. The device need not be on
    this machine."""
    return _dtype(dtype, device)


def _dtype(dtype: str | torch.dtype | None, target: torch.device | None) -> Any:
    if dtype is None:
        return torch.float32 if target is not None and target.type == "cpu" else "auto"
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype not in DTYPES:
        raise unknown("dtype", dtype, DTYPES)
    return DTYPES[dtype]
