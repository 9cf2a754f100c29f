"""The modules of a model as one thread runs them. Several threads have modules of their own, with the same weights."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.utils.hooks import RemovableHandle
from transformers import DynamicCache

from headatlas.errors import HeadAtlasError
from headatlas.model.families import Family

REGISTERING = threading.Lock()  # torch numbers the hooks of all modules with one counter that threads share


class Body:
    """A module with its layers and out-projections; `past` and `short` are what its forwards continue and leave out.
    Forwards end with KeyboardInterrupt once `stop` is set."""

    def __init__(self, module: nn.Module, family: Family, model_type: str) -> None:
        self.module: Any = module
        self.layers: list[Any] = list(_descend(module, family.layers, model_type))
        self.out_projections: list[Any] = [_descend(layer, family.out_projection, model_type) for layer in self.layers]
        self.past: DynamicCache | None = None
        self.short = False
        self.stop: threading.Event | None = None


class Bodies:
    """The bodies of one model. Hooks, replaced forwards and everything else that is done to a module belong to the
    thread that does them; weights are shared, so another body takes almost no memory."""

    def __init__(self, module: nn.Module, family: Family, model_type: str) -> None:
        self._family, self._model_type = family, model_type
        self._all = [Body(module, family, model_type)]
        self._of_threads: dict[int, Body] = {}

    def __len__(self) -> int:
        return len(self._all)

    @property
    def here(self) -> Body:
        """That of this thread: the first one, unless it was given another."""
        return self._of_threads.get(threading.get_ident(), self._all[0])

    def provide(self, number: int) -> None:
        """Have at least so many, all as the first one is now: it may have changed since it was copied. Called while
        nobody runs it, because what hangs on it would be copied too."""
        first = self._all[0].module
        weights = {id(tensor): tensor for tensor in (*first.parameters(), *first.buffers())}
        self._all[1:] = [
            Body(copy.deepcopy(first, {**weights}), self._family, self._model_type)
            for _ in range(1, max(number, len(self._all)))
        ]

    @contextmanager
    def given(self, number: int, stop: threading.Event) -> Iterator[None]:
        """In this thread everything happens to body `number`, until `stop` is set."""
        body = self._of_threads[threading.get_ident()] = self._all[number]
        body.stop = stop
        try:
            yield
        finally:
            body.stop = None
            del self._of_threads[threading.get_ident()]


@contextmanager
def hooked(registrations: Iterable[Callable[[], RemovableHandle]]) -> Iterator[None]:
    """Hooks that live exactly as long as the `with`."""
    handles: list[RemovableHandle] = []
    try:
        with REGISTERING:
            handles.extend(register() for register in registrations)
        yield
    finally:
        for handle in handles:
            handle.remove()


def _descend(module: nn.Module, path: str, model_type: str) -> Any:
    part_of_model: Any = module
    for part in path.split("."):
        if not hasattr(part_of_model, part):
            raise HeadAtlasError(
                f"{type(module).__name__} has no {path!r} (missing: {part!r}), as the family registered for "
                f"{model_type!r} says. Register the right paths with headatlas.register_family."
            )
        part_of_model = getattr(part_of_model, part)
    return part_of_model
