"""Tokenising at the border of prompt and answer, through chat templates, and what is refused."""

import pytest
from tokenizers import normalizers
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from headatlas.errors import HeadAtlasError
from headatlas.run.encoding import Encoder, common_prefix
from headatlas.suites.example import Example
from tests import tiny

TEMPLATE = "{% for m in messages %}<{{ m.content }}>{% endfor %} answer:"


def example(prompt: str, answer: str, *distractors: str) -> Example:
    return Example(id="e", task="t", prompt=prompt, answer=answer, distractors=distractors, group="g")


def with_tokenizer(template: str | None = None, normalizer=None, begin: bool = False):
    """The small model with a copy of its tokenizer: a chat template, a rule of its own, or a token before all texts."""
    rules = tiny.tokenizer().backend_tokenizer
    raw = type(rules).from_str(rules.to_str())
    if normalizer is not None:
        raw.normalizer = normalizer
    if begin:
        raw.post_processor = TemplateProcessing(single="<end> $A", special_tokens=[("<end>", 0)])
    model = tiny.model()
    special = {"bos_token": "<end>"} if begin else {}
    model.tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", pad_token="<end>", **special)
    model.tokenizer.chat_template = template
    return model


def test_answers_are_the_tokens_after_the_prompt():
    encoder = Encoder(tiny.model())
    answer, other = encoder.encode(example("the key is", " in", " red"))
    ids = tiny.tokenizer()
    assert list(answer.tokens) == ids("the key is in")["input_ids"]
    assert answer.start == other.start == len(ids("the key is")["input_ids"])


def test_a_border_that_merges_is_scored_from_the_last_common_token():
    """'thr' + 'ee' is one token together: the tokens of the prompt alone do not all survive."""
    encoder, ids = Encoder(tiny.model()), tiny.tokenizer()
    alone, whole = ids("two thr")["input_ids"], ids("two three")["input_ids"]
    assert whole[: len(alone)] != alone, "the tokenizer must merge here, or the test shows nothing"
    options = encoder.encode(example("two thr", "ee", "xx"))
    unchanged = next(i for i, (a, b) in enumerate(zip(alone, whole, strict=False)) if a != b)
    assert {option.start for option in options} == {unchanged}
    assert unchanged < len(alone)
    assert ids.decode(options[0].tokens) == "two three"


def test_a_beginning_token_stands_before_every_prompt_of_a_tokenizer_that_adds_one():
    (option,) = Encoder(with_tokenizer(begin=True)).encode(example("the key", " is"))
    assert option.tokens[0] == 0
    assert option.tokens.count(0) == 1
    assert option.start == 1 + len(tiny.tokenizer()("the key")["input_ids"])


def test_chat_puts_the_prompt_into_the_template():
    with pytest.raises(HeadAtlasError, match=r"has no chat template\. Leave `chat` out\."):
        Encoder(with_tokenizer(), chat=True)
    model = with_tokenizer(TEMPLATE)
    encoder = Encoder(model, chat=True)
    (option,) = encoder.encode(example("the key", " is"))
    assert model.tokenizer.decode(option.tokens) == "<the key> answer:is"
    assert encoder.prompt_text("the key") == "<the key> answer:"
    assert model.tokenizer.decode(encoder.prompt_ids("the key")) == "<the key> answer:"
    assert Encoder(model).prompt_text("the key") == "the key"


def test_an_example_longer_than_the_context_is_refused_by_name():
    with pytest.raises(HeadAtlasError, match=r"Example 'e' has \d+ tokens .* context holds 128"):
        Encoder(tiny.model()).encode(example("the key is " * 60, " red"))


def test_an_answer_that_tokenises_to_nothing_is_refused():
    with pytest.raises(HeadAtlasError, match="Example 'e': 'zzz' tokenises to nothing"):
        Encoder(with_tokenizer(normalizer=normalizers.Replace("zzz", ""))).encode(example("the key", "zzz"))


def test_a_prompt_that_leaves_no_token_before_the_answer_is_refused():
    """'t' alone is a token that 'the' does not begin with."""
    ids = tiny.tokenizer()
    assert ids("the")["input_ids"][0] != ids("t")["input_ids"][0]
    with pytest.raises(HeadAtlasError, match="Example 'e': no token of its prompt comes before the answer"):
        Encoder(tiny.model()).encode(example("t", "he"))


def test_a_model_without_a_tokenizer_is_refused_by_name():
    model = tiny.model()
    model.tokenizer = None
    with pytest.raises(HeadAtlasError, match="tiny-llama-grouped was given without a tokenizer"):
        Encoder(model)


def test_the_fingerprint_follows_all_that_turns_text_into_tokens():
    plain = Encoder(with_tokenizer()).fingerprint
    assert plain == Encoder(tiny.model()).fingerprint
    assert plain == Encoder(with_tokenizer(TEMPLATE)).fingerprint, "a template that is not used does not count"
    others = [
        Encoder(with_tokenizer(TEMPLATE), chat=True).fingerprint,
        Encoder(with_tokenizer(TEMPLATE + " "), chat=True).fingerprint,
        Encoder(with_tokenizer(normalizer=normalizers.Lowercase())).fingerprint,
        Encoder(with_tokenizer(begin=True)).fingerprint,
    ]
    assert len({plain, *others}) == 5


def test_the_common_prefix_is_counted_in_tokens():
    assert common_prefix([1, 2, 3], [1, 2, 4]) == 2
    assert common_prefix([1, 2], [1, 2, 4]) == 2
    assert common_prefix([5], [1]) == common_prefix([], [1]) == 0
