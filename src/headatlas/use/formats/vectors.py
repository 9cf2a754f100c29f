"""Steering vectors as safetensors, with a short loader for plain transformers.

`steering.safetensors` has one tensor per task [layer, head, head_dim], zero for heads that are not pushed, and says in
its metadata to which modules they belong and with which strength they were measured.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from headatlas.errors import HeadAtlasError, unknown
from headatlas.model.editing import projection_names
from headatlas.model.heads import HeadModel
from headatlas.use.directions import chosen_strength, directions
from headatlas.use.formats.request import Request
from headatlas.workflows.held_out import model_of

FILE, LOADER = "steering.safetensors", "steer.py"

LOADER_CODE = '''"""with steer(model, "TASK", 5.0): model.generate(...)   for a model of plain transformers."""
import json
from contextlib import ExitStack, contextmanager

import torch
from safetensors import safe_open


@contextmanager
def steer(model, task, strength, file="steering.safetensors"):
    with safe_open(file, "pt") as stored, ExitStack() as hooks:
        for name, v in zip(json.loads(stored.metadata()["modules"]), strength * stored.get_tensor(task).flatten(1)):
            def push(_, args, v=v):  # at the last position: where the next token is predicted
                return torch.cat([args[0][:, :-1], args[0][:, -1:] + v.to(args[0])], 1), *args[1:]
            if v.any():
                hooks.callback(model.get_submodule(name).register_forward_pre_hook(push).remove)
        yield
'''


def write(request: Request, folder: Path) -> None:
    atlas = request.atlas
    model = model_of(atlas, request.model, {}, request.reporter)
    pushes = directions(
        atlas, request.tasks, model, request.suite, request.k, request.method, request.reporter,
        all_of_them=request.task is not None,
    )  # fmt: skip
    strengths = {task: chosen_strength(atlas, task, request.method) for task in pushes}
    metadata = {
        "model": atlas.run.model.name,
        "fingerprint": atlas.run.model.fingerprint,
        "method": request.method,
        "modules": json.dumps(projection_names(model)),
        "strengths": json.dumps({task: strength for task, strength in strengths.items() if strength is not None}),
    }
    save_file({task: np.ascontiguousarray(push) for task, push in pushes.items()}, folder / FILE, metadata=metadata)
    (folder / LOADER).write_text(LOADER_CODE)


def read_vectors(path: Path, task: str, model: HeadModel) -> NDArray[np.float32]:
    """The vectors of a task [layer, head, head_dim], from a file that `write` wrote for this model."""
    path = path / FILE if path.is_dir() else path
    try:
        with safe_open(path, "np") as stored:
            if task not in stored.keys():  # noqa: SIM118 (it is no dict)
                raise unknown(f"task in {path}", task, stored.keys())
            push: NDArray[np.float32] = stored.get_tensor(task)
    except (OSError, SafetensorError) as error:
        raise HeadAtlasError(f"Cannot read steering vectors from {path}: {error}.") from None
    expected = (*model.shape, model.head_dim)
    if push.shape != expected:
        raise HeadAtlasError(
            f"The steering vectors of {task} in {path} have the shape {push.shape}; {model.name} takes {expected}."
        )
    return push
