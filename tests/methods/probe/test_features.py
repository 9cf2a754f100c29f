"""What is read of the heads, against one unpadded example at a time."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from headatlas.methods.probe.features import WITHOUT_QUESTION, collect
from headatlas.methods.probe.reading import TOKENS, Reading
from headatlas.run.context import RunContext
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite
from tests import tiny
from tests.run.contexts import run_context
from tests.run.reference import token_logprobs

WORDS = ("red", "item", "blue", "sum", "one", "zebra", "two", "green")


def long_answers(lengths=(1, 3, 4, 2, 7), per_task: int = 15, last: int = 0) -> Suite:
    """Answers of several lengths after prompts of several lengths. One distractor goes on from the answer and shares
    its row, one has its beginning, and one has nothing of it."""
    examples = []
    for t, task in enumerate(("Colours", "Numbers")):
        for i in range(per_task):
            count = lengths[i % len(lengths)]
            answer = "".join(f" {WORDS[(i + t + j + last) % 8]}" for j in range(count))
            prompt = f"{'the key is in the box and ' * (i % 3)}{task} {i} is"
            distractors = (f"{answer} key box", f"{answer.rsplit(' ', 1)[0]} key", " the key is in")[i % 4 :]
            examples.append(
                Example(
                    id=f"{task}-{i}",
                    task=task,
                    group=f"{task}/{i}",
                    prompt=prompt,
                    answer=answer,
                    distractors=distractors,
                )
            )
    return Suite("long", tuple(examples))


def long_context(folder, suite: Suite | None = None, kind: str = "llama-grouped") -> RunContext:
    return run_context(folder, tiny.model(kind), suite or long_answers())


def logprobs(model, tokens, start) -> np.ndarray:
    return np.array(token_logprobs(model, tokens, start))


@torch.no_grad()
def by_hand(context: RunContext, example: Example, reading: Reading) -> np.ndarray:
    """The feature of one example, alone and without padding."""
    model = context.model
    prompt = tiny.tokenizer()(example.prompt)["input_ids"]
    tokens = tiny.tokenizer()(example.prompt + example.answer)["input_ids"]
    start = len(prompt)
    assert tokens[:start] == prompt
    with model.capture() as z:
        model.module(input_ids=torch.tensor([tokens[:-1]]))
    read = torch.stack([z[layer][0] for layer in range(model.n_layers)], 1)  # [pos, layer, head, head_dim]
    predicting = np.arange(start - 1, len(tokens) - 1)
    if reading.tokens == "mean":
        predicting = np.arange(len(tokens) - 1)
    elif reading.tokens == "first":
        predicting = predicting[:1]
    elif reading.tokens == "last":
        predicting = predicting[-1:]
    elif reading.tokens == "important":
        nothing = tiny.tokenizer()(WITHOUT_QUESTION)["input_ids"]
        gained = logprobs(model, tokens, start) - logprobs(model, nothing + tokens[start:], len(nothing))
        predicting = predicting[np.argsort(-gained)[: reading.k]]
    return read[predicting].mean(0).flatten().numpy()


@pytest.mark.parametrize("kind", ["llama-grouped", "gpt2", "bloom"])
@pytest.mark.parametrize("tokens", TOKENS)
def test_z_is_read_exactly_where_the_answer_is_predicted(tmp_path, kind, tokens):
    """In padded batches of several lengths; by hand alone, so features do not depend on the rest of a batch."""
    context, reading = long_context(tmp_path, long_answers(), kind), Reading(tokens, k=3)
    batches = context.intact_batches("Colours", "fit")
    assert any((batch.lengths < batch.ids.shape[1]).any() for batch in batches)
    assert sum(batch.size for batch in batches) > len(context.examples("Colours", "fit"))
    lengths = {int(batch.lengths[row] - position) for batch in batches for row, position in batch.ends}
    assert max(lengths) > 1, "rows of answers must go on, or what comes after them would not be tested"
    read_features = collect(context, "fit", reading)
    assert list(read_features) == ["Colours", "Numbers"]
    for task, features in read_features.items():
        expected = np.stack([by_hand(context, example, reading) for example in context.examples(task, "fit")])
        assert expected.std(0).max() > 0.01, "examples must differ, or their order would not be tested"
        np.testing.assert_allclose(features, expected, atol=1e-5)
        assert features.dtype == np.float32


def test_the_readings_differ_from_each_other(tmp_path):
    context = long_context(tmp_path, long_answers())
    read_features = [collect(context, "fit", Reading(tokens, k=2))["Colours"] for tokens in TOKENS]
    for i, first in enumerate(read_features):
        for second in read_features[:i]:
            assert np.abs(first - second).max() > 0.01


def test_important_tokens_are_those_that_gain_most_from_the_question(tmp_path):
    """The k with the largest log p(token | prompt) - log p(token | no question), which are neither the first k nor
    the least likely ones everywhere."""
    context, reading = long_context(tmp_path, long_answers((7, 6))), Reading("important", k=2)
    model, ids = context.model, tiny.tokenizer()
    tokens_chosen = []
    for example in context.examples("Colours", "fit"):
        start, tokens = len(ids(example.prompt)["input_ids"]), ids(example.prompt + example.answer)["input_ids"]
        with_question = logprobs(model, tokens, start)
        nothing = ids("Answer:")["input_ids"]
        gain = with_question - logprobs(model, nothing + tokens[start:], len(nothing))
        tokens_chosen.append((set(np.argsort(-gain)[:2]), set(np.argsort(-with_question)[:2])))
    assert any(gained != {0, 1} for gained, _ in tokens_chosen)
    assert any(gained != likely for gained, likely in tokens_chosen)
    read_features = collect(context, "fit", reading)["Colours"]
    expected = [by_hand(context, example, reading) for example in context.examples("Colours", "fit")]
    np.testing.assert_allclose(read_features, expected, atol=1e-5)


def test_the_features_of_an_example_do_not_depend_on_the_rest_of_its_batch(tmp_path):
    whole = long_context(tmp_path / "a", long_answers())
    single = {split: Suite("one", tuple(s.of(t)[0] for t in s.tasks)) for split, s in whole.splits.items()}
    alone = whole.with_splits(single)
    for tokens in TOKENS:
        together, apart = (collect(context, "fit", Reading(tokens, k=2)) for context in (whole, alone))
        for task in whole.tasks:
            np.testing.assert_allclose(together[task][:1], apart[task], atol=1e-5)


def counted(context: RunContext, reading: Reading) -> int:
    """How many forwards reading the `fit` split takes."""
    calls, plain = [], context.model.logits

    def logits(ids):
        calls.append(ids.shape)
        return plain(ids)

    assert context.model.sharing.layers  # tried once, with forwards of its own
    context.model.logits = logits
    collect(context, "fit", reading)
    return len(calls)


def test_short_answers_need_no_second_forward(tmp_path):
    short, long = (long_context(tmp_path / name, long_answers(sizes)) for name, sizes in (("a", (1, 2)), ("b", (7, 6))))
    longest = max(
        int(torch.bincount(batch.slots).max()) for task in short.tasks for batch in short.batches(task, "fit")
    )
    batches = sum(len(short.intact_batches(task, "fit")) for task in short.tasks)
    assert counted(short, Reading("important", k=longest)) == batches
    long_batches = sum(len(long.intact_batches(task, "fit")) for task in long.tasks)
    assert counted(long, Reading("all")) == long_batches
    for reading in ("first", "last", "mean"):
        assert counted(long_context(tmp_path / reading, long_answers((7, 6))), Reading(reading)) == long_batches
    again = long_context(tmp_path / "c", long_answers((7, 6)))
    assert counted(again, Reading("important", k=2)) == 2 * long_batches


def test_short_answers_share_their_cells_with_all_tokens(tmp_path):
    context = long_context(tmp_path, long_answers((1, 2)))
    collect(context, "fit", Reading("all"))
    computed = len(context.runner.computed)
    collect(context, "fit", Reading("important", k=40))
    assert len(context.runner.computed) == computed
    collect(context, "fit", Reading("important", k=1))
    assert len(context.runner.computed) > computed


def test_a_cell_holds_one_feature_per_example_and_nothing_that_grows_with_positions(tmp_path):
    context = long_context(tmp_path, long_answers())
    model = context.model
    for tokens in TOKENS:
        collect(context, "fit", Reading(tokens, k=2))
    examples = 0
    for path in tmp_path.glob("*.safetensors"):
        arrays = load_file(path)
        assert list(arrays) == ["features"]
        assert arrays["features"].shape[1:] == (model.n_layers * model.n_heads * model.head_dim,)
        examples += len(arrays["features"])
    assert examples == len(TOKENS) * len(context.splits["fit"].examples)
