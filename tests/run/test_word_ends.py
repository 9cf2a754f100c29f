"""An answer counts as written only where the model does not go on with its last word or number."""

import pytest
import torch

from headatlas.run.batches import make_batches
from headatlas.run.competence import competence
from headatlas.run.encoding import Option
from headatlas.run.word_ends import goes_on
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context


@pytest.mark.parametrize(
    ("last", "following", "expected"),
    [("5", "7", True), ("5", " ", False), ("5", ".", False), ("d", "s", True), ("d", ".", False), (".", "5", False)],
)
def test_letters_and_digits_go_on_and_blanks_and_stops_do_not(last, following, expected):
    one, two = (tiny.tokenizer()(text)["input_ids"] for text in (last, following))
    assert len(one) == len(two) == 1
    assert goes_on(tiny.tokenizer(), one[0], two[0]) is expected


def test_nothing_goes_on_with_the_end_of_the_text():
    assert not goes_on(tiny.tokenizer(), tiny.tokenizer()("5")["input_ids"][0], tiny.tokenizer().eos_token_id)


def writer():
    """A random model that writes digits and words."""
    model = tiny.model()
    said = [
        i
        for text in (*"0123456789", " red", " blue", " the", " key", " is")
        for i in tiny.tokenizer()(text)["input_ids"]
    ]
    silent = torch.ones(len(model.module.get_output_embeddings().weight), dtype=torch.bool)
    silent[said] = False
    model.module.get_output_embeddings().weight[silent] = 0
    return model


def unfinished(model):
    """Prompts, their first greedy tokens, and whether the model then goes on with the same word."""
    words = ("red", "blue", "green", "one", "two", "three", "four", "five", "key", "box")
    for number in range(80):
        text = f"{words[number % 10]} {words[number // 10]} item {number} is"
        prompt = tuple(model.tokenizer(text)["input_ids"])
        with torch.inference_mode():
            first = int(model.logits(torch.tensor([prompt]))[0, -1].argmax())
            second = int(model.logits(torch.tensor([(*prompt, first)]))[0, -1].argmax())
        yield text, Option((*prompt, first), len(prompt)), goes_on(model.tokenizer, first, second)


def test_an_answer_in_the_middle_of_a_word_is_not_what_greedy_decoding_writes():
    model = writer()
    cases = list(unfinished(model))
    assert {goes for *_, goes in cases} == {True, False}
    options = [[option, Option((*option.tokens[:-1], 7, 8), option.start)] for _, option, _ in cases]
    for closed in (False, True):
        for batch in make_batches(options, closed=closed):
            _, greedy = batch.score(model)
            _, repeated = batch.repeat(2).score(model)
            assert repeated.tolist() == greedy.tolist() * 2
            answers = greedy[[int((batch.owners == m).nonzero()[0]) for m in range(len(batch.members))]]
            assert answers.tolist() == [not (closed and cases[member][2]) for member in batch.members]


def test_exact_match_of_a_task_does_not_count_half_words(tmp_path):
    """The first token of what the model writes is the answer; where the word goes on, it is another one."""
    model = writer()
    examples, goes = [], []
    for prompt, option, goes_further in unfinished(model):
        answer = model.tokenizer.decode(option.tokens[option.start :])
        if answer.strip() and model.tokenizer(prompt + answer)["input_ids"] == list(option.tokens):
            number = len(examples)
            examples.append(Example(id=str(number), task="t", prompt=prompt, answer=answer, group=str(number)))
            goes.append(goes_further)
    assert 0 < sum(goes) < len(goes)
    entries, known = competence(run_context(tmp_path, model, Suite("half words", tuple(examples))))
    assert known == {str(i) for i, further in enumerate(goes) if not further}
    assert entries[0].exact == entries[0].accuracy == pytest.approx(1 - sum(goes) / len(goes))
