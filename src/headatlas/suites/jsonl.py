"""Reading task files. A bad line is refused with file, line, field and reason; nothing is guessed."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from headatlas.errors import HeadAtlasError
from headatlas.suites.cognitive.functions import KNOWLEDGE, TASKS
from headatlas.suites.example import Example
from headatlas.suites.suite import Knowledge, Suite


def _field_and_reason(error: ValidationError) -> str:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "example"
    reason = first["msg"].removeprefix("Value error, ")
    return f"field '{field}': {reason}"


def read_jsonl(path: str | Path) -> Suite:
    """Read a task file, one example per line. The suite is named after the file.

    A task file cannot say what is known about its tasks. If all of them are named as functions of the cognitive suite,
    as in an imported CogQA file, they are taken to be these functions.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise HeadAtlasError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
    except OSError as error:
        raise HeadAtlasError(f"Cannot read the task file {path}: {error.strerror}.") from None
    examples = []
    line_of_id: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            example = Example.model_validate_json(line)
        except ValidationError as error:
            raise HeadAtlasError(f"{path}, line {number}, {_field_and_reason(error)}.") from None
        if example.id in line_of_id:
            raise HeadAtlasError(
                f"{path}, line {number}, field 'id': {example.id!r} was already used on line {line_of_id[example.id]}."
            )
        line_of_id[example.id] = number
        examples.append(example)
    if not examples:
        raise HeadAtlasError(f"{path} holds no examples. A task file has one JSON object per line.")
    known = {example.task for example in examples} <= set(TASKS)
    return Suite(path.stem, tuple(examples), KNOWLEDGE if known else Knowledge())
