"""Whatever is typed or given in a file: an answer or one sentence, never a traceback, and nothing is written.

FUZZED=10000 in the environment tries so many lines of task files, which takes half a minute.
"""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headatlas.errors import HeadAtlasError
from headatlas.suites.jsonl import read_jsonl
from headatlas.suites.suite import to_jsonl

SAME_EACH_TIME = {
    "deadline": None, "database": None, "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
}  # fmt: skip

GOOD = {
    "id": "1", "task": "Colours", "prompt": "The sky is", "answer": " blue", "distractors": [" red", " green"],
    "counterfactual": {"prompt": "The grass is", "answer": " green"}, "group": "sky", "template": "is", "level": 1,
    "chain": None, "step": None,
}  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=12), st.sampled_from(["", " ", " blue", "blue", "\u0000", "a\nb", "\ud800", "x" * 300])
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def changed_lines(draw):
    """A good line of which some fields are changed, missing or new, or the text is cut, or has other bytes."""
    example = dict(GOOD)
    for field in draw(st.lists(st.sampled_from([*GOOD, "new"]), max_size=3)):
        if draw(st.booleans()):
            example[field] = draw(VALUES)
        else:
            example.pop(field, None)
    line = json.dumps(example).encode()
    how = draw(st.integers(0, 3))
    if how == 1:
        return line[: draw(st.integers(0, len(line)))]
    if how == 2:
        at = draw(st.integers(0, len(line)))
        return line[:at] + draw(st.binary(max_size=4)) + line[at:]
    return line


def one_sentence(message, about="", at_most=700):
    assert about in message, message
    assert message and "\n" not in message.strip(), message
    assert "Traceback" not in message and len(message) <= at_most, message


@settings(max_examples=int(os.environ.get("FUZZED", "1000")), **SAME_EACH_TIME)
@given(line=st.one_of(changed_lines(), st.binary(max_size=60)))
def test_any_line_of_a_task_file(line, tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(line)
    try:
        suite = read_jsonl(path)
    except HeadAtlasError as error:
        one_sentence(str(error), about=str(path))
    else:
        (tmp_path / "again.jsonl").write_text(to_jsonl(suite.examples), encoding="utf-8")
        assert read_jsonl(tmp_path / "again.jsonl").examples == suite.examples


WORDS = st.one_of(
    st.sampled_from([
        "nowhere", "", "0", "-1", "1e9", "nan", "quick", "ablate", "gate", "mask", "L1H1", "cuda:9", "ablate.exact=x",
        "a=b=c", "../..", "file.txt", "folder",
    ]),
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8),
)  # fmt: skip
COMMANDS = {  # with what keeps each of them from starting to work
    ("map", "--model", "nowhere"): (
        "--suite", "--method", "--task", "--preset", "--limit", "--seeds", "--metric", "--baseline", "--exact",
        "--gates", "--set", "--level", "--device", "--dtype", "--out",
    ),
    ("plan", "--model", "nowhere"): (
        "--suite", "--method", "--preset", "--limit", "--exact", "--set", "--tokens-per-second",
    ),
    ("verify",): ("--test", "--method", "--measure", "--preset", "-k", "--draws", "--limit", "--baseline", "--model"),
    ("top",): ("--task", "--method", "-k"),
    ("plot",): ("--figure", "--method", "--out"),
    ("report",): ("--method", "--seed", "--draws"),
    ("compare", "nowhere"): ("--method", "--measure", "--seed", "--task", "--by", "--out"),
    ("suite", "check"): ("--model", "--level"),
    ("suite", "import", "cogqa"): ("--out",),
    ("models", "planted", "nothing"): ("--out",),
    ("serve", "--port", "x"): ("--host",),
    ("selftest", "--no-such-option"): (),
}  # fmt: skip


@st.composite
def command_lines(draw):
    command = draw(st.sampled_from(sorted(COMMANDS)))
    line = [*command]
    if command[0] not in ("map", "plan", "serve", "selftest") or draw(st.integers(0, 4)) == 0:
        line.append(draw(WORDS))
    for option in draw(st.lists(st.sampled_from([*COMMANDS[command], "--no-such-option"]), max_size=3)):
        line += [option, draw(WORDS)]
    return line


@settings(max_examples=200, **SAME_EACH_TIME)
@given(line=command_lines())
def test_any_command_line(line, tmp_path, monkeypatch, command):
    folder = tmp_path / "here"
    if not folder.exists():
        (folder / "folder").mkdir(parents=True)
        (folder / "file.txt").write_text("no atlas")
    monkeypatch.chdir(folder)
    before = sorted(Path().rglob("*"))
    done = command(*line)
    assert done.returncode in (1, 2), (line, done)
    *usage, message = done.stderr.strip().splitlines()
    assert all(part.startswith(("Usage: ", "Try ", "Loading nowhere")) or not part for part in usage), (
        line,
        done.stderr,
    )
    one_sentence(message)
    assert sorted(Path().rglob("*")) == before, line
    assert (folder / "file.txt").read_text() == "no atlas"


@pytest.mark.parametrize("command_words", sorted(COMMANDS))
def test_the_fuzzed_options_exist(command_words, command):
    """Or the fuzzing would only ever test unknown options."""
    names = [word for word in command_words if word in ("map", "plan", "verify", "top", "plot", "report", "compare",
             "suite", "check", "import", "cogqa", "models", "planted", "serve", "selftest")]  # fmt: skip
    shown = command(*names, "--help").stdout
    assert all(option in shown for option in COMMANDS[command_words])
