"""Tokenising at the border, batching, padding, and the metrics."""

import pytest
import torch

from headatlas.errors import HeadAtlasError
from headatlas.run.scoring import Encoder, Option, make_batches
from headatlas.suites.example import Example
from tests import tiny


def example(prompt: str, answer: str, *distractors: str) -> Example:
    return Example(id="e", task="t", prompt=prompt, answer=answer, distractors=distractors, group="g")


@torch.no_grad()
def plain_logprob(model, tokens, start: int) -> float:
    """The slow and obvious way: one text alone, all logits."""
    logprobs = model.module(input_ids=torch.tensor([tokens])).logits.log_softmax(-1)[0]
    return sum(logprobs[i - 1, tokens[i]].item() for i in range(start, len(tokens)))


def test_answers_are_the_tokens_after_the_prompt():
    encoder = Encoder(tiny.model())
    answer, other = encoder.encode(example("the key is", " in", " red"))
    ids = tiny.tokenizer()
    assert list(answer.tokens) == ids("the key is in")["input_ids"]
    assert answer.start == other.start == len(ids("the key is")["input_ids"])


def test_a_border_that_merges_is_scored_from_the_last_common_token():
    """'thr' + 'ee' is one token together: the prompt's own tokens do not all survive."""
    encoder, ids = Encoder(tiny.model()), tiny.tokenizer()
    alone, whole = ids("two thr")["input_ids"], ids("two three")["input_ids"]
    assert whole[: len(alone)] != alone, "the tokenizer must merge here, or the test shows nothing"
    options = encoder.encode(example("two thr", "ee", "xx"))
    unchanged = next(i for i, (a, b) in enumerate(zip(alone, whole, strict=False)) if a != b)
    assert {option.start for option in options} == {unchanged}
    assert unchanged < len(alone)
    assert ids.decode(options[0].tokens) == "two three"


def test_a_beginning_token_stands_before_every_prompt_of_a_tokenizer_that_adds_one():
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    raw = type(tiny.tokenizer().backend_tokenizer).from_str(tiny.tokenizer().backend_tokenizer.to_str())
    raw.post_processor = TemplateProcessing(single="<end> $A", special_tokens=[("<end>", 0)])
    model = tiny.model()
    model.tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<end>", eos_token="<end>")
    (option,) = Encoder(model).encode(example("the key", " is"))
    assert option.tokens[0] == 0
    assert option.tokens.count(0) == 1
    assert option.start == 1 + len(tiny.tokenizer()("the key")["input_ids"])


def test_chat_puts_the_prompt_into_the_template():
    model = tiny.model()
    model.tokenizer = type(model.tokenizer)(tokenizer_object=tiny.tokenizer().backend_tokenizer, eos_token="<end>")
    with pytest.raises(HeadAtlasError, match="has no chat template"):
        Encoder(model, chat=True)
    model.tokenizer.chat_template = "{% for m in messages %}<{{ m.content }}>{% endfor %} answer:"
    (option,) = Encoder(model, chat=True).encode(example("the key", " is"))
    assert model.tokenizer.decode(option.tokens) == "<the key> answer:is"


def test_an_example_longer_than_the_context_is_refused_by_name():
    with pytest.raises(HeadAtlasError, match=r"Example 'e' has \d+ tokens .* context holds 128"):
        Encoder(tiny.model()).encode(example("the key is " * 60, " red"))


def test_an_answer_that_tokenises_to_nothing_is_refused():
    from tokenizers import normalizers

    raw = type(tiny.tokenizer().backend_tokenizer).from_str(tiny.tokenizer().backend_tokenizer.to_str())
    raw.normalizer = normalizers.Replace("zzz", "")
    model = tiny.model()
    model.tokenizer = type(model.tokenizer)(tokenizer_object=raw, eos_token="<end>")
    with pytest.raises(HeadAtlasError, match="Example 'e': 'zzz' tokenises to nothing"):
        Encoder(model).encode(example("the key", "zzz"))


def test_options_share_rows_wherever_attention_allows():
    one, other = Option((5, 6, 7), 2), Option((5, 6, 8), 2)  # one token each after 5 6
    longer = Option((5, 6, 9, 10), 2)
    (batch,) = make_batches([[one, other, longer]])
    assert batch.ids.tolist() == [[5, 6, 9]]  # one row scores all three
    assert batch.positions.tolist() == [1, 1, 1, 2]
    assert batch.targets.tolist() == [7, 8, 9, 10]
    assert batch.slots.tolist() == [0, 1, 2, 2]


def test_batches_hold_every_example_once_and_keep_to_their_size():
    encoder = Encoder(tiny.model())
    encoded = [encoder.encode(e) for e in tiny.suite().examples]
    batches = make_batches(encoded, tokens=200)
    assert sorted(member for batch in batches for member in batch.members) == list(range(len(encoded)))
    assert len(batches) > 3
    assert all(batch.ids.numel() <= 200 or len(batch.members) == 1 for batch in batches)


@pytest.mark.parametrize("kind", tiny.FAMILIES)
@torch.no_grad()
def test_padding_and_company_change_nothing(kind):
    """The same example alone, in a small batch and in a large one: the same log-probability, which is the plain one."""
    model = tiny.model(kind)
    encoder = Encoder(model)
    encoded = [encoder.encode(e) for e in tiny.suite(12).examples]
    widths = set()
    scores: dict[int, dict[tuple[int, int], float]] = {}
    for tokens in (1, 120, 4000):
        scores[tokens] = {}
        for batch in make_batches(encoded, tokens):
            widths.add(batch.ids.shape[1])
            logprobs, _ = batch.score(model)
            for place, member in enumerate(batch.members):
                for option, value in enumerate(logprobs[batch.owners == place].tolist()):
                    scores[tokens][member, option] = value
    assert len(widths) > 2
    for (member, option), value in scores[1].items():
        choice = encoded[member][option]
        assert value == pytest.approx(plain_logprob(model, list(choice.tokens), choice.start), abs=1e-5)
        assert scores[120][member, option] == pytest.approx(value, abs=1e-5)
        assert scores[4000][member, option] == pytest.approx(value, abs=1e-5)


@torch.no_grad()
def test_greedy_says_whether_decoding_gives_the_answer():
    model = tiny.model()
    prompt = tiny.tokenizer()("the key is in")["input_ids"]
    generated = list(prompt)
    for _ in range(3):
        generated.append(int(model.module(input_ids=torch.tensor([generated])).logits[0, -1].argmax()))
    wrong = [*generated[:-1], (generated[-1] + 1) % tiny.VOCABULARY]
    options = [Option(tuple(tokens), len(prompt)) for tokens in (generated, wrong)]
    (batch,) = make_batches([options])
    assert batch.score(model)[1].tolist() == [True, False]


@torch.no_grad()
def test_repeated_batches_score_the_same_below_each_other():
    model = tiny.model()
    encoder = Encoder(model)
    batch = make_batches([encoder.encode(e) for e in tiny.suite(6).examples])[0]
    once, _ = batch.score(model)
    thrice, _ = batch.repeat(3).score(model)
    torch.testing.assert_close(thrice, once.repeat(3), atol=1e-5, rtol=0)
    assert batch.repeat(3).owners.max() == 3 * len(batch.members) - 1


def test_the_key_of_a_batch_follows_its_content():
    encoder = Encoder(tiny.model())
    first, second = (make_batches([encoder.encode(example("the key is", answer))])[0] for answer in (" in", " red"))
    again = make_batches([encoder.encode(example("the key is", " in"))])[0]
    assert first.key == again.key != second.key
