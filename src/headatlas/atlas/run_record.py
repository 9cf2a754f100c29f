"""run.json as a typed record: everything needed to repeat a run, and what every method and test says about itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from headatlas.atlas.declarations import MethodInfo, TestInfo
from headatlas.errors import HeadAtlasError
from headatlas.files import write_bytes

SCHEMA = 2  # raise it when a field or a column changes its meaning
FILE = "run.json"
JOBS = "slurm-jobs"  # the folder in an atlas where submitit keeps logs while jobs run
# What a run leaves behind that is killed before its first file, and what workers begin with.
LEFT_BEHIND = {".lock", ".run.json.tmp", "work", "cells", JOBS}


class Record(BaseModel):
    """Unknown fields are refused: a record from another version must not be half understood."""

    model_config = ConfigDict(extra="forbid")


class Asked(Record):
    """What the user asked for, as far as it can be asked for again."""

    model: str | None = None  # null for a model that was given in memory
    load: dict[str, str] = {}
    suite: str | None = None  # null for a suite that was made in Python
    level: int | None = None
    tasks: list[str] | None = None
    command: str | None = None


class ModelRecord(Record):
    """The model that was mapped."""

    name: str
    type: str
    fingerprint: str
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    dtype: str
    device: str
    kernel: str | None = None  # the attention implementation
    quantized: int | None = None  # bits of the weights of the layers, where they are packed


class SuiteRecord(Record):
    """The suite, the number of its examples in each split, and what it knows about its tasks."""

    name: str
    fingerprint: str
    tasks: list[str]
    examples: dict[str, int]
    low_level: list[str] = []
    high_level: list[str] = []
    showcase: list[str] = []


class AuditRecord(Record):
    """One check of the suite's texts: a number, the limit it should keep, a verdict and a sentence."""

    name: str
    task: str
    value: float | None
    limit: float | None
    verdict: Literal["good", "warning", "bad"]
    note: str


class MapSettings(Record):
    """How much was measured and how; `methods` holds the settings of every method."""

    preset: str
    limits: dict[str, int] | None = None  # examples per task in each split; all where null
    chat: bool = False
    at_chance: bool = False
    known_only: bool = False
    split_seed: int = 0
    methods: dict[str, dict[str, Any]] = {}


class Quantity(Record):
    """What a method measured of the examples of a task, and what it put in the place of a head."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: str  # "margin" or "logprob"
    baseline: str  # "twin", "pair", "mean", "zero" or "resample"


class CellCounts(Record):
    """Cells that the run computed, and cells that an earlier run had left."""

    computed: int
    reused: int


class Verification(Record):
    """One test of one method's maps. `key` names its settings in evidence.parquet."""

    key: str
    method: str
    test: str
    settings: dict[str, Any]
    finished: str


class RunRecord(Record):
    """run.json. What is known only at the end is null until then."""

    schema_version: int = SCHEMA
    asked: Asked = Asked()
    model: ModelRecord
    suite: SuiteRecord
    settings: MapSettings
    versions: dict[str, str] = {}
    audit: list[AuditRecord] = []
    started: str = ""
    finished: str | None = None
    seconds: float | None = None
    cells: CellCounts | None = None
    pending: list[str] = []  # methods that are still to come, in the order in which they run; empty at the end
    methods: list[MethodInfo] = []  # declarations of the methods that measured something
    rounding: float | None = None  # nats (rms) that half precision adds to an effect on one example; null in float32
    quantities: dict[str, dict[str, Quantity]] = {}  # by method and task; without methods that have no such choice
    # By method and task, in a few words: why a map failed its method's own check and is not to be read.
    doubts: dict[str, dict[str, str]] = {}
    default_method: str | None = None  # the one that figures, page, `top` and `verify` take unless told otherwise
    tests: list[TestInfo] = []  # declarations of the tests that were run
    verifications: list[Verification] = []

    @property
    def still_to_come(self) -> str:
        """What an unfinished atlas lacks, as a sentence; empty for a finished one."""
        return f"Still to come: {', '.join(self.pending)}." if self.pending else ""

    def method(self, name: str) -> MethodInfo:
        return next(info for info in self.methods if info.name == name)

    def test(self, name: str) -> TestInfo:
        return next(info for info in self.tests if info.name == name)


def write_run(folder: Path, run: RunRecord) -> None:
    write_bytes(folder / FILE, (run.model_dump_json(indent=2) + "\n").encode())


def read_run(folder: Path) -> RunRecord:
    """The record of an atlas folder; an error that says what is wrong where there is none."""
    if folder.is_file():
        raise HeadAtlasError(f"{folder} is a file; give the folder of an atlas.")
    if not folder.is_dir():
        raise HeadAtlasError(f"There is no folder {folder}. Make an atlas with: headatlas map --out {folder}")
    path = folder / FILE
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        raise HeadAtlasError(f"The folder {folder} is not an atlas: there is no {FILE} in it.") from None
    except (OSError, ValueError):
        raise HeadAtlasError(f"{path} cannot be read as the description of an atlas.") from None
    version = _version(content)
    if version != SCHEMA:
        raise HeadAtlasError(
            f"The atlas {folder} has schema version {version}; this headatlas reads version {SCHEMA}. Use the version "
            "of headatlas that wrote it, or map again."
        )
    try:
        return RunRecord.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise HeadAtlasError(
            f"{path} cannot be read as the description of an atlas: field '{field}': {first['msg']}."
        ) from None


def _version(content: Any) -> Any:
    """The schema version; version 1 wrote it as `schema`."""
    if isinstance(content, dict):
        return content.get("schema_version", content.get("schema", "unknown"))
    return "unknown"
