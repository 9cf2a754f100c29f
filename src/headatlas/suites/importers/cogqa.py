"""Reading CogQA files: questions broken into steps, each step labelled with one cognitive function.

The file is a JSON list of `{question, answer, generated: [{subquestion, answer, cognitive_skill}]}`. Such files are
written by language models and contain unknown labels, numbers instead of texts, and broken records. A record that
cannot be used is left out and named in the report; only a file that is not a JSON list is an error.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headatlas.errors import HeadAtlasError
from headatlas.suites.chains.chain import Chain, Step
from headatlas.suites.cognitive.functions import TASKS

OPTIONS = 3  # wrong options drawn for a step that has none in the file
NEAREST = 12  # texts nearest in length among which the options are drawn


@dataclass(frozen=True)
class Fault:
    """One thing in the file that could not be used, or that occurs twice. Indices start at 0."""

    record: int
    step: int | None
    reason: str

    def __str__(self) -> str:
        path = f"[{self.record}]" if self.step is None else f"[{self.record}].generated[{self.step}]"
        return f"{path}: {self.reason}"


@dataclass
class ImportReport:
    """What was read, and what was left out and why."""

    questions: int = 0  # records that became a chain
    steps: int = 0  # steps in all chains together
    dropped_labels: Counter[str] = field(default_factory=Counter)  # unknown labels: their steps are left out
    bad_records: list[Fault] = field(default_factory=list)  # left out as a whole
    bad_steps: list[Fault] = field(default_factory=list)  # left out of a chain that was otherwise read
    repeated_questions: list[Fault] = field(default_factory=list)  # read, in the group of the first
    repeated_steps: list[Fault] = field(default_factory=list)  # read, although asked earlier in the chain
    few_options: list[Fault] = field(default_factory=list)  # read, with fewer wrong options than wanted
    shortened: list[str] = field(default_factory=list)  # ids of chains without some of their steps

    def lines(self) -> list[str]:
        """The report in plain sentences, with one line per fault."""
        dropped = ", ".join(f"{label} {count}" for label, count in self.dropped_labels.most_common())
        lines = [f"{self.questions} questions with {self.steps} steps were read."]
        if dropped:
            lines.append(f"Steps left out because no function has their label: {dropped}.")
        if self.shortened:
            lines.append(f"Chains from which steps were left out: {len(self.shortened)}.")
        for title, faults in (
            ("records left out", self.bad_records),
            ("steps left out", self.bad_steps),
            ("questions asked twice", self.repeated_questions),
            ("steps asked twice in a chain", self.repeated_steps),
            (f"steps with fewer than {OPTIONS} wrong options", self.few_options),
        ):
            if faults:
                lines += [f"{len(faults)} {title}:", *(f"  {fault}" for fault in faults)]
        return lines


def read_cogqa(path: str | Path, seed: int = 0) -> tuple[list[Chain], ImportReport]:
    """The chains of a CogQA file and the report of the import. A pure function of the file and the seed.

    A step without wrong options (`distractors`) in the file gets some: answers of similar length to steps of the same
    function in other questions. Questions that differ only in case and white space share a group.
    """
    records = _load(Path(path))
    report = ImportReport()
    readings: list[_Reading] = []
    first_record: dict[str, int] = {}  # of each group
    for index, record in enumerate(records):
        reading = _chain(index, record, report)
        if reading is None:
            continue
        readings.append(reading)
        group = reading.chain.group
        if group in first_record:
            report.repeated_questions.append(Fault(index, None, f"asks the question of [{first_record[group]}] again"))
        first_record.setdefault(group, index)
    report.questions = len(readings)
    report.steps = sum(len(reading.chain.steps) for reading in readings)
    return _with_options(readings, seed, report), report


def draw_distractors(answer: str, pool: Sequence[str], rng: random.Random, count: int = OPTIONS) -> tuple[str, ...]:
    """Up to `count` different texts of the pool, drawn among those nearest to the answer in length.

    The answer itself is never drawn, not even with another case or a full stop. A text that is frequent in the pool is
    drawn more often, so that being a frequent answer does not give the right option away.
    """
    near: list[str] = []
    kinds = {_key(answer)}
    for text in sorted(pool, key=lambda text: (abs(len(text) - len(answer)), rng.random())):
        if len(kinds) > NEAREST:
            break
        if _key(text) != _key(answer):
            kinds.add(_key(text))
            near.append(text)
    rng.shuffle(near)
    drawn: dict[str, str] = {}
    for text in near:
        drawn.setdefault(_key(text), text)
    return tuple(drawn.values())[:count]


def short_hash(text: str) -> str:
    """A short name for a text that does not depend on its case and spacing."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:12]


def _key(text: str) -> str:
    """Two answers with the same key count as the same: case, spacing and a final full stop do not matter."""
    return " ".join(text.casefold().split()).rstrip(" .")


def _load(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise HeadAtlasError(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from None
    except OSError as error:
        raise HeadAtlasError(f"Cannot read the CogQA file {path}: {error.strerror}.") from None
    wanted = "A CogQA file is a JSON list of {question, answer, generated: [{subquestion, answer, cognitive_skill}]}."
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HeadAtlasError(f"{path} is not JSON: {error}. {wanted}") from None
    if not isinstance(records, list):
        raise HeadAtlasError(f"{path} contains {_json_name(records)}, not a list. {wanted}")
    return records


def _json_name(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "null")


class _Unusable(Exception):
    """Why a record or step cannot be used; never leaves this module."""


def _text(owner: dict[str, Any], name: str) -> str:
    """The named text, trimmed. A number is read as a text: real files have answers such as 33 without quotes."""
    value = owner.get(name)
    if name not in owner:
        raise _Unusable(f"{name} is missing")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise _Unusable(f"{name} is {_json_name(value)}, not a text")
    if not value.strip():
        raise _Unusable(f"{name} is blank")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Unusable(f"{name} is not valid Unicode") from None
    return value.strip()


def _one_line(text: str) -> str:
    """The text without line breaks: each step must be one line of the prompt."""
    return " ".join(text.split())


@dataclass(frozen=True)
class _Reading:
    """A chain, the index of its record, and the index of each of its steps in the record."""

    index: int
    chain: Chain
    step_indices: tuple[int, ...]


def _chain(index: int, record: Any, report: ImportReport) -> _Reading | None:
    """The chain of a record, or None with the reason in the report."""
    try:
        if not isinstance(record, dict):
            raise _Unusable(f"is {_json_name(record)}, not an object")
        # Some files have line breaks escaped twice. Before a lower-case letter, "\\n" could begin a TeX command.
        question = re.sub(r"\\n(?![a-z])", "\n", _text(record, "question")).strip()
        if not question:
            raise _Unusable("question is blank")
        answer = _text(record, "answer")
        generated = record.get("generated")
        if not isinstance(generated, list):
            raise _Unusable(f"generated is {_json_name(generated)}, not a list of steps")
        steps = dict(_steps(index, generated, report))
        if not steps:
            raise _Unusable("no step can be used")
    except _Unusable as reason:
        report.bad_records.append(Fault(index, None, str(reason)))
        return None
    chain = Chain(f"cogqa-{index:05d}", question, answer, tuple(steps.values()), f"cogqa-{short_hash(question)}")
    if len(steps) < len(generated):
        report.shortened.append(chain.id)
    return _Reading(index, chain, tuple(steps))


def _steps(index: int, generated: list[Any], report: ImportReport) -> Iterator[tuple[int, Step]]:
    """The usable steps with their indices; the others go to the report."""
    functions = {_label_key(task): task for task in TASKS}
    first_step: dict[str, int] = {}  # by key of the question
    for step_index, raw in enumerate(generated):
        try:
            if not isinstance(raw, dict):
                raise _Unusable(f"is {_json_name(raw)}, not an object")
            label = _text(raw, "cognitive_skill")
            if _label_key(label) not in functions:
                report.dropped_labels[label] += 1
                continue
            question, answer = _one_line(_text(raw, "subquestion")), _one_line(_text(raw, "answer"))
            step = Step(question, answer, functions[_label_key(label)], _given_options(raw, answer))
        except _Unusable as reason:
            report.bad_steps.append(Fault(index, step_index, str(reason)))
            continue
        if (key := _key(question)) in first_step:
            report.repeated_steps.append(Fault(index, step_index, f"asks the same as generated[{first_step[key]}]"))
        first_step.setdefault(key, step_index)
        yield step_index, step


def _label_key(label: str) -> str:
    return " ".join(re.split(r"[\s_-]+", label.casefold().strip()))


def _given_options(raw: dict[str, Any], answer: str) -> tuple[str, ...]:
    """The wrong options that the file gives for a step, if any."""
    options = raw.get("distractors") or []
    if not isinstance(options, list):
        raise _Unusable(f"distractors is {_json_name(options)}, not a list")
    texts = tuple(_one_line(_text({"distractors": option}, "distractors")) for option in options)
    kinds = {_key(text) for text in texts}
    if _key(answer) in kinds:
        raise _Unusable(f"distractors contain the answer {answer!r}")
    if len(kinds) < len(texts):
        raise _Unusable("distractors contain the same option twice")
    return texts


def _with_options(readings: list[_Reading], seed: int, report: ImportReport) -> list[Chain]:
    """The chains with wrong options drawn for every step that has none."""
    answers: dict[str, list[tuple[str, str]]] = defaultdict(list)  # by function: group and answer of each step
    for reading in readings:
        for step in reading.chain.steps:
            answers[step.task].append((reading.chain.group, step.answer))
    chains = []
    for reading in readings:
        steps = []
        for step_index, step in zip(reading.step_indices, reading.chain.steps, strict=True):
            options = step.distractors
            if not options:
                # Steps of the same question may say the same thing in other words, so their answers may be right.
                pool = [answer for group, answer in answers[step.task] if group != reading.chain.group]
                options = draw_distractors(step.answer, pool, random.Random(f"{seed}/{reading.index}/{step_index}"))
                if len(options) < OPTIONS:
                    reason = f"{len(options)} wrong options were found among the other answers of {step.task}"
                    report.few_options.append(Fault(reading.index, step_index, reason))
            steps.append(replace(step, distractors=options))
        chains.append(replace(reading.chain, steps=tuple(steps)))
    return chains
