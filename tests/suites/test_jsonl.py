import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites import load_suite
from headatlas.suites.cognitive import KNOWLEDGE, cognitive
from headatlas.suites.jsonl import read_jsonl
from headatlas.suites.suite import Knowledge, to_jsonl
from tests import tiny


def test_a_suite_survives_its_file(tmp_path):
    path = tmp_path / "tiny.jsonl"
    path.write_text(to_jsonl(tiny.suite().examples))
    assert read_jsonl(path) == tiny.suite()
    assert load_suite(path) == tiny.suite()


GOOD = '{"id": "1", "task": "t", "prompt": "p", "answer": " a", "group": "g"}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no examples"),
        ("\n\n", "holds no examples"),
        (GOOD + "\n{nonsense", r"bad.jsonl, line 2, field 'example': Invalid JSON"),
        ("[1, 2]", "line 1, field 'example': "),
        (GOOD.replace('"answer": " a", ', ""), "line 1, field 'answer': Field required"),
        (GOOD.replace('" a"', "7"), "line 1, field 'answer': Input should be a valid string"),
        (GOOD.replace('" a"', '"  "'), "line 1, field 'answer': is blank"),
        (GOOD.replace('" a"', '""'), "line 1, field 'answer': String should have at least 1 character"),
        (GOOD.replace('"p"', '"p", "distractors": [" b", "a"]'), "distractors contain the answer ' a'"),
        (GOOD.replace('"p"', '"p", "distractors": [" b", " b"]'), "'distractors': contains the same option twice"),
        (GOOD.replace('"p"', '"p", "distractors": [" b", " "]'), "'distractors': contains a blank option"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "q"}'), "'counterfactual.answer': Field required"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "q", "answer": " a"}'), "has the same answer"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "p ", "answer": " b"}'),
         "line 1, field 'counterfactual': has the same prompt"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "q", "answer": " "}'),
         "line 1, field 'counterfactual.answer': is blank"),
        (GOOD.replace('"p"', '"p", "counterfactual": {"prompt": "q", "answer": " a b"}'),
         "line 1, field 'counterfactual': has the answer ' a b' where the answer is ' a': one begins the other"),
        (GOOD.replace('"p"', '"p", "promt": "q"'), "field 'promt': Extra inputs are not permitted"),
        (GOOD + "\n\n" + GOOD, r"line 3, field 'id': '1' was already used on line 1"),
    ],
)  # fmt: skip
def test_a_bad_line_is_refused_with_file_line_field_and_reason(tmp_path, text, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(HeadAtlasError, match=message) as error:
        read_jsonl(path)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"id": "\xff\xfe"}')
    with pytest.raises(HeadAtlasError, match="is not UTF-8 text"):
        read_jsonl(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(HeadAtlasError, match=r"Cannot read the task file .*none.jsonl: No such file"):
        read_jsonl(tmp_path / "none.jsonl")


def test_blank_lines_do_not_matter_and_the_suite_is_named_after_the_file(tmp_path):
    path = tmp_path / "numbers.jsonl"
    path.write_text("\n" + GOOD + "\n  \n" + GOOD.replace('"1"', '"2"') + "\n\n")
    suite = read_jsonl(path)
    assert suite.name == "numbers"
    assert [example.id for example in suite.examples] == ["1", "2"]


@pytest.mark.parametrize(
    ("tasks", "knowledge"),
    [
        (("Retrieval", "Inference"), KNOWLEDGE),
        (("Retrieval", "Colours"), Knowledge()),
        (("retrieval",), Knowledge()),
    ],
)
def test_a_file_whose_tasks_are_all_cognitive_functions_gets_what_is_known_about_them(tmp_path, tasks, knowledge):
    path = tmp_path / "tasks.jsonl"
    path.write_text(to_jsonl(tiny.suite(tasks=tasks).examples))
    assert read_jsonl(path).knowledge == knowledge


def test_a_written_cognitive_suite_is_read_as_it_was(tmp_path):
    suite = cognitive(8)
    path = tmp_path / "cognitive.jsonl"
    path.write_text(to_jsonl(suite.examples))
    assert read_jsonl(path) == suite
