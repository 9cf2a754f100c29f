"""Reading CogQA files: questions broken into steps, each step labelled with one cognitive function.

The file is a JSON list of `{question, answer, generated: [{subquestion, answer, cognitive_skill}]}`. Such files are
written by language models and hold stray labels, numbers for texts and broken records. A record that cannot be used is
named in the report and left out; only a file that is no JSON list at all is an error.
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
from headatlas.suites.chains.chain import HIGH, LOW, Chain, Step

OPTIONS = 3  # wrong options drawn for a step that brings none
NEAREST = 12  # texts nearest in length among which the options are drawn


@dataclass(frozen=True)
class Fault:
    """One thing in the file that could not be used, or stands there twice. Indices count from 0, as in the file."""

    record: int
    step: int | None
    reason: str

    def __str__(self) -> str:
        place = f"[{self.record}]" if self.step is None else f"[{self.record}].generated[{self.step}]"
        return f"{place}: {self.reason}"


@dataclass
class ImportReport:
    """What was read, and what was left out and why."""

    questions: int = 0  # records that became a chain
    steps: int = 0  # steps kept, over all chains
    dropped_labels: Counter[str] = field(default_factory=Counter)  # labels that are no function: steps left out
    bad_records: list[Fault] = field(default_factory=list)  # left out as a whole
    bad_steps: list[Fault] = field(default_factory=list)  # left out of a chain that was kept
    repeated_questions: list[Fault] = field(default_factory=list)  # kept, in the group of the first
    repeated_steps: list[Fault] = field(default_factory=list)  # kept: same question earlier in the chain
    few_options: list[Fault] = field(default_factory=list)  # kept, with fewer wrong options than wanted
    shortened: list[str] = field(default_factory=list)  # ids of chains that miss a step

    def lines(self) -> list[str]:
        """The report in plain sentences, every fault on a line of its own."""
        dropped = ", ".join(f"{label} {count}" for label, count in self.dropped_labels.most_common())
        lines = [f"{self.questions} questions with {self.steps} steps were read."]
        if dropped:
            lines.append(f"Steps left out because their label is no function: {dropped}.")
        if self.shortened:
            lines.append(f"{len(self.shortened)} chains miss a step.")
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

    A step without options of its own (`distractors`) gets answers of other questions' steps of the same function, of
    similar length. Questions that are the same but for case and white space share a group.
    """
    records = _load(Path(path))
    report = ImportReport()
    found: list[_Found] = []
    first: dict[str, int] = {}
    for index, record in enumerate(records):
        read = _chain(index, record, report)
        if read is None:
            continue
        found.append(read)
        chain = read.chain
        if chain.group in first:
            reason = f"asks the question of [{first[chain.group]}]"
            report.repeated_questions.append(Fault(index, None, reason))
        first.setdefault(chain.group, index)
    report.questions = len(found)
    report.steps = sum(len(read.chain.steps) for read in found)
    return _with_options(found, seed, report), report


def draw_distractors(answer: str, pool: Sequence[str], rng: random.Random, count: int = OPTIONS) -> tuple[str, ...]:
    """Up to `count` different texts of the pool, drawn among those nearest to the answer in length.

    Never the answer itself, not even with another case or final stop. A text that stands in the pool often is drawn
    often, so that being a frequent answer does not give the right option away.
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
    """A short name for a text that is the same for every case and spacing of it."""
    return hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:12]


def _key(text: str) -> str:
    """What makes two answers the same: their letters and digits, not case, spacing or a final stop."""
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
        raise HeadAtlasError(f"{path} holds {_json_name(records)}, not a list. {wanted}")
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
    """The named text, trimmed. A number is taken as it is written: answers such as 33 stand bare in real files."""
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
    """A step stands on one line of its prompt; a line break within would cut it in two."""
    return " ".join(text.split())


@dataclass(frozen=True)
class _Found:
    """A chain, the index of its record, and where in the record each of its steps stood."""

    index: int
    chain: Chain
    places: tuple[int, ...]


def _chain(index: int, record: Any, report: ImportReport) -> _Found | None:
    """The chain of a record, or nothing, with the reason in the report."""
    try:
        if not isinstance(record, dict):
            raise _Unusable(f"is {_json_name(record)}, not an object")
        # Some files hold line breaks escaped twice; before a small letter it could be a TeX command.
        question = re.sub(r"\\n(?![a-z])", "\n", _text(record, "question")).strip()
        if not question:
            raise _Unusable("question is blank")
        answer = _text(record, "answer")
        generated = record.get("generated")
        if not isinstance(generated, list):
            raise _Unusable(f"generated is {_json_name(generated)}, not a list of steps")
        kept = dict(_steps(index, generated, report))
        if not kept:
            raise _Unusable("no step can be used")
    except _Unusable as reason:
        report.bad_records.append(Fault(index, None, str(reason)))
        return None
    chain = Chain(f"cogqa-{index:05d}", question, answer, tuple(kept.values()), f"cogqa-{short_hash(question)}")
    if len(kept) < len(generated):
        report.shortened.append(chain.id)
    return _Found(index, chain, tuple(kept))


def _steps(index: int, generated: list[Any], report: ImportReport) -> Iterator[tuple[int, Step]]:
    """The usable steps with their places; the others go to the report."""
    functions = {_label_key(task): task for task in LOW + HIGH}
    seen: dict[str, int] = {}
    for place, raw in enumerate(generated):
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
            report.bad_steps.append(Fault(index, place, str(reason)))
            continue
        if (key := _key(question)) in seen:
            report.repeated_steps.append(Fault(index, place, f"asks the same as generated[{seen[key]}]"))
        seen.setdefault(key, place)
        yield place, step


def _label_key(label: str) -> str:
    return " ".join(re.split(r"[\s_-]+", label.casefold().strip()))


def _given_options(raw: dict[str, Any], answer: str) -> tuple[str, ...]:
    """The step's own wrong options, if it brings any."""
    options = raw.get("distractors") or []
    if not isinstance(options, list):
        raise _Unusable(f"distractors is {_json_name(options)}, not a list")
    texts = tuple(_one_line(_text({"distractors": option}, "distractors")) for option in options)
    kinds = {_key(text) for text in texts}
    if _key(answer) in kinds:
        raise _Unusable(f"distractors hold the answer {answer!r}")
    if len(kinds) < len(texts):
        raise _Unusable("distractors hold the same option twice")
    return texts


def _with_options(found: list[_Found], seed: int, report: ImportReport) -> list[Chain]:
    """The chains with wrong options drawn for every step that has none."""
    answers: dict[str, list[tuple[str, str]]] = defaultdict(list)  # function: group and answer of each step
    for read in found:
        for step in read.chain.steps:
            answers[step.task].append((read.chain.group, step.answer))
    chains = []
    for read in found:
        steps = []
        for place, step in zip(read.places, read.chain.steps, strict=True):
            options = step.distractors
            if not options:
                # Steps of the same question may say the same thing in other words: their answers are no wrong options.
                pool = [answer for group, answer in answers[step.task] if group != read.chain.group]
                options = draw_distractors(step.answer, pool, random.Random(f"{seed}/{read.index}/{place}"))
                if len(options) < OPTIONS:
                    reason = f"{len(options)} wrong options were found among the other answers of {step.task}"
                    report.few_options.append(Fault(read.index, place, reason))
            steps.append(replace(step, distractors=options))
        chains.append(replace(read.chain, steps=tuple(steps)))
    return chains
