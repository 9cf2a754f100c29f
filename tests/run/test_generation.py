"""Answers in batches and with cached keys, against one forward for every token of one prompt."""

import pytest
import torch
from tokenizers import decoders

from headatlas.errors import HeadAtlasError
from headatlas.run.encoding import Encoder
from headatlas.run.generation import (
    FORWARD_TOKENS,
    answer,
    chunks_by_length,
    cut,
    generate,
    line_ends,
    with_generated_answers,
)
from headatlas.suites.suite import SPLITS
from tests import tiny
from tests.run.contexts import run_context
from tests.run.reference import encoded, greedy
from tests.run.test_encoding import TEMPLATE, with_tokenizer

KINDS = ("llama-grouped", "gpt2", "bloom", "opt", "falcon-grouped", "gemma2", "gpt_neox", "mistral", "phi3")
PROMPTS = (
    "the key is in",
    "red",
    "the sum of two and three is",
    "the key is in the red box and the sum of two and three is five and",
    "blue green one",
)


def without_padding(model, row: list[int]) -> list[int]:
    """A row up to its first end, which is kept."""
    ends = set(line_ends(model.tokenizer))
    stop = next((i for i, token in enumerate(row) if token in ends), len(row))
    return row[: stop + 1]


@pytest.mark.parametrize("kind", KINDS)
def test_cached_and_padded_generation_is_the_plain_greedy_loop(kind):
    model = tiny.model(kind)
    written = generate(model, [encoded(prompt) for prompt in PROMPTS], 8)
    for prompt, row in zip(PROMPTS, written, strict=True):
        assert without_padding(model, row) == greedy(model, encoded(prompt), 8)
    assert len({tuple(row) for row in written}) > 1


@pytest.mark.parametrize("kind", ["llama-grouped", "bloom"])
def test_prompts_together_are_answered_as_each_alone(kind):
    model = tiny.model(kind)
    encoder = Encoder(model)
    together = answer(model, encoder, PROMPTS, longest=10)
    assert together == [answer(model, encoder, [prompt], longest=10)[0] for prompt in PROMPTS]
    assert together == answer(model, encoder, PROMPTS[::-1], longest=10)[::-1]
    expected = [tiny.tokenizer().decode(greedy(model, encoded(p), 10), skip_special_tokens=True) for p in PROMPTS]
    assert together == [cut(text) for text in expected]


@pytest.mark.parametrize("habit", [{"repetition_penalty": 50.0}, {"no_repeat_ngram_size": 1}, {"num_beams": 3}])
def test_the_habits_that_come_with_a_model_do_not_change_its_greedy_answer(habit):
    model = tiny.model()
    for name, value in habit.items():
        setattr(model.module.generation_config, name, value)
    written = generate(model, [encoded(prompt) for prompt in PROMPTS], 12)
    for prompt, row in zip(PROMPTS, written, strict=True):
        assert without_padding(model, row) == greedy(model, encoded(prompt), 12)


def favouring(token: int, strength: float = 50.0):
    """A model whose largest logit is always that of one token, whatever it reads; then those that follow it."""
    model = tiny.model()
    head = model.module.get_output_embeddings()
    head.bias = torch.nn.Parameter(torch.zeros(head.out_features), requires_grad=False)
    head.bias[token] = strength
    return model


def test_an_answer_never_begins_with_the_end_of_a_line_and_ends_with_it():
    (line_end,) = encoded("\n")
    (first,) = encoded(" red")
    model = favouring(line_end)
    model.module.get_output_embeddings().bias[first] = 25.0
    written = generate(model, [encoded("the key is"), encoded("two")], 6)
    for row in written:
        assert row[:2] == [first, line_end]
        assert set(row[1:]) <= {*line_ends(model.tokenizer)}, "after the end there is only padding"
    assert answer(model, Encoder(model), ["the key is", "two"]) == [" red", " red"]


def test_the_end_of_the_text_ends_an_answer_and_is_no_first_token():
    model = favouring(0)
    model.module.get_output_embeddings().bias[encoded(" red")[0]] = 25.0
    assert answer(model, Encoder(model), ["the key is"]) == [" red"]
    assert 0 in line_ends(model.tokenizer)


def test_every_token_with_a_line_break_ends_a_line():
    tokens = tiny.tokenizer()
    ends = set(line_ends(tokens))
    assert ends == {i for i in range(len(tokens)) if "\n" in tokens.decode([i])} | {0}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (" red\nblue", " red"),
        (" red. It is so", " red."),
        (" 3.5 of it", " 3.5 of it"),
        ("red", "red"),
        ("\n\n red", " red"),
        ("  two words", " two words"),
        (" yes! no", " yes!"),
        ("   ", ""),
        ("", ""),
    ],
)
def test_an_answer_is_the_first_line_or_sentence(text, kept):
    assert cut(text) == kept


def test_no_answer_is_longer_than_asked():
    model = favouring(encoded(" red")[0])
    assert answer(model, Encoder(model), PROMPTS, longest=3) == [" red red red"] * 5


@pytest.mark.parametrize("replaced", [False, True])
def test_gates_in_rows_mask_each_prompt_by_itself(replaced):
    """The mask holds for the prompt and for every token that is written; against the plain loop under one gate."""
    model = tiny.model()
    generator = torch.Generator().manual_seed(0)
    gates = (torch.rand(len(PROMPTS), *model.shape, generator=generator) > 0.4).float()
    gates[2] = 1
    baseline = torch.randn(*model.shape, model.head_dim, generator=generator) if replaced else None
    found = answer(model, Encoder(model), PROMPTS, longest=8, gates=gates, baseline=baseline)
    for i, prompt in enumerate(PROMPTS):
        with model.gate(gates[i], baseline):
            expected = cut(tiny.tokenizer().decode(greedy(model, encoded(prompt), 8), skip_special_tokens=True))
        assert found[i] == expected
    intact = answer(model, Encoder(model), PROMPTS, longest=8)
    assert found[2] == intact[2]
    assert found != intact


def test_a_prompt_that_leaves_no_room_is_refused_with_its_beginning():
    model = tiny.model()
    long = "the key is " * 35
    count = len(encoded(long))
    assert count < 128 < count + 24
    with pytest.raises(
        HeadAtlasError, match=rf"A prompt of {count} tokens and 24 more do not fit .* of 128.*'the key is"
    ):
        answer(model, Encoder(model), ["red", long])
    assert answer(model, Encoder(model), [long], longest=2)


def test_prompts_of_like_length_are_run_together_within_a_limit():
    lengths = [5, 900, 7, 400, 6, 2000, 380]
    chunks = list(chunks_by_length(lengths))
    assert sorted(i for chunk in chunks for i in chunk) == list(range(7))
    assert all(len(chunk) * max(lengths[i] for i in chunk) <= FORWARD_TOKENS or len(chunk) == 1 for chunk in chunks)
    assert len(chunks) < 7
    joined = [lengths[i] for chunk in chunks for i in chunk]
    assert joined == sorted(joined)
    assert list(chunks_by_length([])) == []


# Generated answers instead of the reference ones


def test_generated_answers_stand_in_for_the_reference_ones(tmp_path):
    model = tiny.model()
    before = run_context(tmp_path, model)
    after = with_generated_answers(before, longest=5)
    changed = 0
    for task in before.tasks:
        for split in SPLITS:
            answered = {example.id: example for example in after.examples(task, split)}
            for example in before.examples(task, split):
                written = cut(
                    tiny.tokenizer().decode(greedy(model, encoded(example.prompt), 5), skip_special_tokens=True)
                )
                if not written.strip():
                    assert example.id not in answered
                    continue
                assert answered[example.id] == example.model_copy(update={"answer": written, "distractors": ()})
                changed += written != example.answer
    assert changed > 10
    assert before.examples("Colours", "fit")[0].distractors, "the context that was given stays as it was"


def test_answers_are_generated_once(tmp_path):
    first = with_generated_answers(run_context(tmp_path), longest=5)
    again = run_context(tmp_path)
    second = with_generated_answers(again, longest=5)
    assert not again.runner.computed
    assert {s: first.splits[s].examples for s in SPLITS} == {s: second.splits[s].examples for s in SPLITS}
    with_generated_answers(again, longest=4)
    assert again.runner.computed


def answers_of(context) -> list[str]:
    answered = with_generated_answers(context, longest=5)
    return [example.answer for split in SPLITS for example in answered.splits[split].examples]


def test_cells_of_answers_follow_what_is_fed_and_not_the_text_of_the_prompts(tmp_path):
    """The same prompts through a chat template, and through another one, are other token ids and other answers."""
    other_template = "{% for m in messages %}{{ m.content }} and{% endfor %} the"
    plain = answers_of(run_context(tmp_path))
    answers = [plain]
    for template in (TEMPLATE, other_template):
        context = run_context(tmp_path, with_tokenizer(template), chat=True)
        answers.append(answers_of(context))
        assert context.runner.computed and not context.runner.reused
        alone = run_context(tmp_path / "alone", with_tokenizer(template), chat=True)
        assert answers[-1] == answers_of(alone), "a folder with answers to other ids changes nothing"
        again = run_context(tmp_path, with_tokenizer(template), chat=True)
        assert answers_of(again) == answers[-1] and not again.runner.computed
    assert len({tuple(texts) for texts in answers}) == 3
    back = run_context(tmp_path)
    assert answers_of(back) == plain and not back.runner.computed


def test_cells_of_answers_follow_the_tokenizer_that_turns_ids_into_text(tmp_path):
    """Another decoder leaves the ids that are fed as they are, and writes other texts."""
    answers_of(run_context(tmp_path))
    model = with_tokenizer()
    model.tokenizer.backend_tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("e", "E")])
    context = run_context(tmp_path, model)
    answers = answers_of(context)
    assert context.runner.computed and not context.runner.reused
    assert any("E" in text for text in answers) and not any("e" in text for text in answers)


def test_cells_of_answers_follow_the_token_that_ends_a_text(tmp_path):
    before = answers_of(run_context(tmp_path))
    model = with_tokenizer()
    model.tokenizer.eos_token = model.tokenizer.convert_ids_to_tokens(encoded(before[0])[1])
    context = run_context(tmp_path, model)
    assert answers_of(context) != before
    assert context.runner.computed and not context.runner.reused


def test_blank_answers_are_left_out_and_counted(tmp_path):
    """The planted model says every colour again; of this one `red` is made of blanks."""
    model = tiny.planted()
    unembedding = model.module.get_output_embeddings().weight
    with torch.no_grad():
        unembedding[encoded(" ")[0], :16] = unembedding[encoded(" red")[0], :16]
        unembedding[encoded(" red")[0], :16] = 0
    before = run_context(tmp_path, model, tiny.copying())
    after = with_generated_answers(before, longest=2)
    blank = [e.id for split in SPLITS for e in before.splits[split].examples if e.answer == " red"]
    answered = {e.id for split in SPLITS for e in after.splits[split].examples}
    assert answered == {e.id for e in tiny.copying().examples} - set(blank)
    assert before.runner.reporter.said == [f"{len(blank)} examples are left out: the model answers them with nothing."]


def test_a_model_that_says_nothing_cannot_be_read_from_generated_answers(tmp_path):
    model = favouring(encoded(" ")[0])
    with pytest.raises(HeadAtlasError, match="answers nothing to almost all examples of 'Colours' in the 'fit' split"):
        with_generated_answers(run_context(tmp_path, model), longest=3)


def test_a_null_character_in_an_answer_does_no_harm(tmp_path):
    model = favouring(encoded("\0")[0])
    answered = with_generated_answers(run_context(tmp_path, model), longest=2)
    assert answered.examples("Colours", "fit")[0].answer == "\0\0"
