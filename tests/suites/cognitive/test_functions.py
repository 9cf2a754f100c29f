from headatlas.suites.cognitive.functions import HIGH, KNOWLEDGE, LOW, TASKS


def test_every_function_is_either_low_or_high_level():
    assert KNOWLEDGE.low_level == LOW
    assert KNOWLEDGE.high_level == HIGH
    assert sorted(LOW + HIGH) == sorted(TASKS)
    assert len(set(TASKS)) == 8


def test_knowledge_names_only_functions_that_exist():
    assert KNOWLEDGE.showcase == ("Math Calculation", "Syntactic Understanding")
    assert KNOWLEDGE.answer_in_prompt == ("Retrieval",)
    assert KNOWLEDGE.answer_not_in_prompt == ("Knowledge Recall",)
    assert set(KNOWLEDGE.showcase + KNOWLEDGE.answer_in_prompt + KNOWLEDGE.answer_not_in_prompt) <= set(TASKS)
