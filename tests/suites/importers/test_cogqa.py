import json
import random

import pytest

from headatlas.errors import HeadAtlasError
from headatlas.suites.chains.chain import chain_examples
from headatlas.suites.cognitive import KNOWLEDGE
from headatlas.suites.importers.cogqa import Fault, draw_distractors, read_cogqa
from headatlas.suites.jsonl import read_jsonl
from headatlas.suites.suite import to_jsonl

FRUITS = ("apple", "grape", "lemon", "mango", "peach", "melon", "olive", "papaya")


def step(question, answer, label="Retrieval", **more):
    return {"subquestion": question, "answer": answer, "cognitive_skill": label} | more


def record(i, *steps):
    """A question about a basket, with two default steps if none are given."""
    fruit = FRUITS[i % len(FRUITS)]
    default = (step(f"Which fruit lies in basket {i}?", fruit), step("How many?", f"{i} pieces", "Math Calculation"))
    return {"question": f"What is in basket {i}?", "answer": fruit, "generated": list(steps or default)}


def read(tmp_path, records, seed=0):
    path = tmp_path / "baskets.json"
    path.write_text(records if isinstance(records, str) else json.dumps(records))
    return read_cogqa(path, seed)


def test_chains_keep_their_steps_in_order_and_become_a_task_file(tmp_path):
    chains, report = read(tmp_path, [record(i) for i in range(8)])
    assert (report.questions, report.steps) == (8, 16)
    assert report.lines() == ["8 questions with 16 steps were read."]
    examples = [example for chain in chains for example in chain_examples(chain)]
    assert [(e.chain, e.step, e.task) for e in examples[:2]] == [
        ("cogqa-00000", 0, "Retrieval"),
        ("cogqa-00000", 1, "Math Calculation"),
    ]
    assert examples[1].prompt == (
        "Question: What is in basket 0?\nStep 1: Which fruit lies in basket 0? Answer: apple\nStep 2: How many? Answer:"
    )
    assert examples[0].group == examples[1].group != examples[2].group
    path = tmp_path / "tasks.jsonl"
    path.write_text(to_jsonl(examples))
    suite = read_jsonl(path)
    assert list(suite.examples) == examples
    assert suite.knowledge == KNOWLEDGE


def test_wrong_options_are_other_answers_of_the_function_and_depend_only_on_the_seed(tmp_path):
    records = [record(i) for i in range(20)]
    chains, report = read(tmp_path, records)
    for chain in chains:
        fruit, number = chain.steps
        assert len(set(fruit.distractors)) == 3
        assert set(fruit.distractors) <= set(FRUITS) - {fruit.answer}
        assert all(option.endswith(" pieces") for option in number.distractors)
        assert number.answer not in number.distractors
    assert read(tmp_path, records)[0] == chains
    assert read(tmp_path, records, seed=1)[0] != chains
    assert report.few_options == []


def test_options_are_of_similar_length_and_never_the_answer_in_another_guise():
    pool = ["x" * n for n in range(1, 60)] + ["Yes.", "yes", "YES "]
    drawn = draw_distractors("Yes", pool, random.Random(0))
    assert len(drawn) == 3
    assert all(set(text) == {"x"} and len(text) <= 13 for text in drawn)
    assert draw_distractors("no", ["No", "no."], random.Random(0)) == ()


def test_a_frequent_answer_is_drawn_often():
    pool = ["often"] * 40 + [f"rare{i}" for i in range(8)]
    times = sum("often" in draw_distractors("other", pool, random.Random(seed)) for seed in range(100))
    assert times > 90


def test_given_options_are_kept_and_faulty_ones_named(tmp_path):
    good = step("Which?", "red", distractors=["blue", "green"])
    with_answer = step("Which one?", "red", distractors=["blue", "Red."])
    double = step("Which two?", "red", distractors=["blue", "blue "])
    blank = step("Which none?", "red", distractors=[" "])
    chains, report = read(tmp_path, [record(0, good, with_answer, double, blank)])
    assert chains[0].steps[0].distractors == ("blue", "green")
    assert report.bad_steps == [
        Fault(0, 1, "distractors contain the answer 'red'"),
        Fault(0, 2, "distractors contain the same option twice"),
        Fault(0, 3, "distractors is blank"),
    ]


def test_labels_are_folded_and_strays_dropped_with_a_count(tmp_path):
    steps = [
        step("One?", "1", " math calculation "),
        step("Two?", "2", "decision making"),
        step("Three?", "3", "Guess"),
    ]
    chains, report = read(tmp_path, [record(0, *steps), record(1, step("Four?", "4", "Guess"), steps[0])])
    assert [s.task for s in chains[0].steps] == ["Math Calculation", "Decision-making"]
    assert report.dropped_labels == {"Guess": 2}
    assert report.shortened == ["cogqa-00000", "cogqa-00001"]
    assert report.lines()[1:3] == [
        "Steps left out because no function has their label: Guess 2.",
        "Chains from which steps were left out: 2.",
    ]


def test_the_same_question_shares_a_group_and_is_reported(tmp_path):
    again = record(0) | {"question": "  what is in\nBASKET 0? "}
    chains, report = read(tmp_path, [record(0), record(1), again])
    assert chains[0].group == chains[2].group != chains[1].group
    assert chains[0].id != chains[2].id
    assert report.repeated_questions == [Fault(2, None, "asks the question of [0] again")]
    # Wrong options never come from another wording of the same question.
    assert chains[0].steps[0].distractors == ("grape",)
    assert "[0].generated[0]: 1 wrong options were found among the other answers of Retrieval" in map(
        str, report.few_options
    )


def test_the_same_step_twice_in_a_chain_is_reported_and_kept(tmp_path):
    chains, report = read(tmp_path, [record(0, step("Which?", "a"), step("Why?", "b"), step("which? ", "c"))])
    assert len(chains[0].steps) == 3
    assert [str(fault) for fault in report.repeated_steps] == ["[0].generated[2]: asks the same as generated[0]"]


def test_a_bad_record_or_step_is_named_and_the_rest_is_read(tmp_path):
    records = [
        "text",
        {"answer": "a", "generated": []},
        record(2) | {"question": "  "},
        record(3) | {"answer": None},
        record(4) | {"generated": {"subquestion": "Why?"}},
        record(5) | {"generated": []},
        record(6) | {"question": "\ud800"},
        record(7, step("How many?", 33, "Math Calculation"), step("Whether?", True), step("", "a"), step("Who?", " \n"),
               ["Why?"], {"subquestion": "When?", "answer": "now"}, step("Where?", "a", None), step("On\ntwo", "a\nb")),
    ]  # fmt: skip
    chains, report = read(tmp_path, records)
    assert [(fault.record, fault.reason) for fault in report.bad_records] == [
        (0, "is a text, not an object"),
        (1, "question is missing"),
        (2, "question is blank"),
        (3, "answer is null, not a text"),
        (4, "generated is an object, not a list of steps"),
        (5, "no step can be used"),
        (6, "question is not valid Unicode"),
    ]
    assert [(fault.step, fault.reason) for fault in report.bad_steps] == [
        (1, "answer is a truth value, not a text"),
        (2, "subquestion is blank"),
        (3, "answer is blank"),
        (4, "is a list, not an object"),
        (5, "cognitive_skill is missing"),
        (6, "cognitive_skill is null, not a text"),
    ]
    (chain,) = chains
    assert [(s.question, s.answer) for s in chain.steps] == [("How many?", "33"), ("On two", "a b")]
    assert "  [7].generated[3]: answer is blank" in report.lines()
    assert len(chain_examples(chain)) == 2


def test_line_breaks_that_were_escaped_twice_are_mended(tmp_path):
    chains, _ = read(tmp_path, [record(0) | {"question": r"Which?\nOptions:\n- a\n- b, with $a \neq b$"}])
    assert chains[0].question == "Which?\nOptions:\n- a\n- b, with $a \\neq b$"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"question": ', r"baskets.json is not JSON: .* A CogQA file is a JSON list of \{question"),
        ('{"question": "Why?"}', "baskets.json contains an object, not a list"),
        ("[" * 100_000, "baskets.json is not JSON"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, text, message):
    with pytest.raises(HeadAtlasError, match=message):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(HeadAtlasError, match="Cannot read the CogQA file .*none.json: No such file"):
        read_cogqa(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes('["é"]'.encode("latin-1"))
    with pytest.raises(HeadAtlasError, match=r"latin.json is not UTF-8 text \(byte 2\)"):
        read_cogqa(tmp_path / "latin.json")
