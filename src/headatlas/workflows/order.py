"""What a map is made of, as a file: all that a worker in another process needs to follow the same run."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError
from pydantic_core import PydanticSerializationError

from headatlas.atlas.run_record import Record
from headatlas.errors import HeadAtlasError, UsageError
from headatlas.files import write_bytes, write_first
from headatlas.methods.base import Method
from headatlas.model import bundled
from headatlas.model.heads import HeadModel
from headatlas.run.store import ORDER
from headatlas.run.worker import Worker
from headatlas.suites.registry import DECLARATIONS
from headatlas.suites.suite import Suite


class WorkOrder(Record):
    """What workers follow; `FILE` is its name in the folder `work`."""

    FILE: ClassVar[str]

    threads: int | None = None


class Order(WorkOrder):
    """The parameters of `headatlas.map`, as far as results depend on them."""

    FILE = ORDER

    model: str
    suite: str
    methods: list[str] | None = None
    tasks: list[str] | None = None
    preset: str
    limit: int | None = None
    seeds: int | None = None
    metric: str | None = None
    baseline: str | None = None
    settings: dict[str, dict[str, Any]] = Field(default_factory=dict)
    level: int | None = None
    chat: bool = False
    at_chance: bool = False
    known_only: bool = False
    load_options: dict[str, Any] = Field(default_factory=dict)
    command: str | None = None
    report: bool = True

    def parameters(self) -> dict[str, Any]:
        """As `headatlas.map` takes them."""
        # JSON has no tuples, and settings of methods have no lists.
        settings = {
            method: {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
            for method, given in self.settings.items()
        }
        return {**self.model_dump(exclude={"threads"}), "settings": settings}


def make_order(parameters: Mapping[str, Any]) -> Order | None:
    """The order for the parameters of a map; None where another process could not make the same one: a model, a suite
    or a method is an object of this process, or an option is nothing that JSON can hold."""
    in_memory = isinstance(parameters["model"], HeadModel) or isinstance(parameters["suite"], Suite)
    if in_memory or any(isinstance(method, Method) for method in parameters["methods"] or ()):
        return None
    changed = {
        "model": absolute(parameters["model"], {bundled.NAME}),
        "suite": absolute(parameters["suite"], DECLARATIONS),
        "settings": {name: dict(given) for name, given in (parameters["settings"] or {}).items()},
        "load_options": {
            key: str(value).removeprefix("torch.") if key == "dtype" and value else value
            for key, value in (parameters["load_options"] or {}).items()
        },
    }
    try:
        order = Order(**{**parameters, **changed})
        order.model_dump_json()
    except (ValidationError, PydanticSerializationError):
        return None
    return order


def needed_order(order: Order | None) -> Order:
    if order is None:
        raise UsageError(
            "Several workers were asked for, but the model, the suite or a method was given as an object of this "
            "process. Give the name or folder of a model, the name or file of a suite, and names of methods."
        )
    return order


def write_order(out: Path, order: WorkOrder) -> None:
    write_bytes(out / "work" / order.FILE, _text(order))


def propose_order(out: Path, order: Order) -> None:
    """Write the order unless another process has been first with its own."""
    write_first(out / "work" / ORDER, _text(order), f".{Worker().name}")


def _text(order: WorkOrder) -> bytes:
    return (order.model_dump_json(indent=2) + "\n").encode()


def read_order(out: Path) -> Order:
    path = out / "work" / ORDER
    try:
        return Order.model_validate_json(path.read_text())
    except FileNotFoundError:
        raise HeadAtlasError(
            f"There is nothing to work on in {out}: no map is being made there. A finished one needs no workers; begin "
            f"one with: headatlas map --out {out}"
        ) from None
    except (OSError, ValidationError, ValueError):
        raise HeadAtlasError(
            f"{path} cannot be read, or another version of headatlas wrote it. Use the same version for all workers."
        ) from None


def absolute(name: str | Path, known: Container[str]) -> str:
    """A path that holds in other folders too; names that are `known` or no files stay as they are."""
    path = Path(name).expanduser()
    if str(name) in known:
        return str(name)
    return str(path.resolve()) if path.exists() else str(name)
