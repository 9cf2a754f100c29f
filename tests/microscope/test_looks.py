import pytest
import torch

from headatlas.microscope.looks import KINDS, Marks, changed_tokens, find_text, kinds, rows_of_attention, shares
from headatlas.run.alignment import align
from headatlas.run.encoding import Option
from headatlas.run.quantity import Item
from tests import tiny
from tests.microscope import scenes
from tests.run.contexts import run_context


def test_every_token_has_the_first_kind_that_fits():
    #         0  1  2  3  4  5  6
    tokens = [9, 1, 2, 3, 4, 7, 1]
    found = [KINDS[kind] for kind in kinds(tokens, 6, Marks(answer={3}, foil={4, 3}, changed={1, 4}))]
    assert found == [
        "the first token",
        "the words that differ in the twin",
        "the token after an earlier copy of the one it reads from",
        "the answer, earlier in the prompt",
        "the foil, earlier in the prompt",
        "the token before",
        "the token itself",
    ]
    assert KINDS[kinds([5, 6, 7, 8], 3)[1]] == "elsewhere"
    assert shares([0.25, 0.5, 0.25, 0.0], kinds([5, 6, 7, 8], 3)).tolist() == [0.25, 0, 0, 0, 0, 0, 0.25, 0.5]


def test_a_text_is_found_whatever_blanks_surround_it():
    prompt = ["The", " red", " box", ".", "red", " bo", "x"]
    assert find_text(prompt, [" red"]) == {1, 4}
    assert find_text(prompt, [" bo", "x"]) == {5, 6}
    assert find_text(prompt, [" "]) == find_text(prompt, ["blue"]) == set()


@pytest.mark.parametrize(
    ("prompt", "twin", "changed", "twin_changed"),
    [
        ((1, 2, 3, 4), (1, 5, 3, 4), [1], [1]),
        ((1, 2, 3, 9), (1, 7, 9), [1, 2], [1]),
        ((1, 7, 9), (1, 2, 3, 9), [1], [1, 2]),
    ],
)
def test_changed_tokens_of_a_prompt_and_of_its_twin(prompt, twin, changed, twin_changed):
    option = Option((*prompt, 8), len(prompt))
    item = Item(tiny.suite().examples[0], "evaluate", (option,), twin, tuple(align(prompt, twin)))
    assert changed_tokens(item) == (changed, twin_changed)


def test_rows_are_those_of_single_prompts_and_long_ones_are_left_out(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    view = scenes.view(context, "Colours", [(0, 1), (2, 3)])
    items = view.quantity.items
    (rows,) = rows_of_attention([view])
    for item, row in zip(items, rows, strict=True):
        start = item.options[0].start
        with torch.no_grad():
            weights = context.model.attention(torch.tensor([item.options[0].tokens[:start]]))
        for number, (layer, head) in enumerate(view.heads):
            assert row[number] == pytest.approx(weights[layer][0, head, -1].numpy(), abs=1e-5)
    shortest = min(item.options[0].start for item in items)
    monkeypatch.setattr("headatlas.microscope.looks.LONGEST", shortest)
    (rows,) = rows_of_attention([view])
    assert [row.shape[1] for row in rows] == [
        item.options[0].start if item.options[0].start <= shortest else 0 for item in items
    ]


def test_no_rows_where_the_model_returns_no_weights(tmp_path, monkeypatch):
    context = run_context(tmp_path)
    monkeypatch.setattr(context.model, "attention", lambda ids: None)
    assert rows_of_attention([scenes.view(context, "Colours", [(0, 1)])]) == [None]
