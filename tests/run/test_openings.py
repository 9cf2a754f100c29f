"""Texts that begin alike under different masks, against whole texts."""

import pytest
import torch

from headatlas.model.sharing import Sharing
from headatlas.run.generation import generate
from headatlas.run.openings import Opening, run_opening, tokens_alike
from tests import tiny

BEGIN = [5, 9, 17, 33, 21, 40, 8, 3]
PROMPTS = [[*BEGIN, 7, 8, 9], [*BEGIN, 10], [*BEGIN, 11, 12, 13, 14, 15], [*BEGIN, 7, 8, 9, 50, 51]]


def masks(model) -> torch.Tensor:
    gates = torch.ones(4, *model.shape)
    gates[1, 0, 1] = gates[2, 1] = gates[3, 2, 2] = 0
    return gates


@pytest.mark.parametrize("kind", ["llama-grouped", "mistral", "gemma2", "gpt2", "bloom", "falcon-grouped", "gptj"])
def test_what_is_written_after_a_beginning_is_what_is_written_after_whole_prompts(kind):
    model = tiny.model(kind)
    gates = masks(model)
    opening = run_opening(model, BEGIN, gates, None)
    assert opening.inputs is not None
    with torch.inference_mode(), model.gate(gates):
        whole = generate(model, PROMPTS, 6)
        after = generate(model, PROMPTS, 6, opening.of(range(4), opening.shared(PROMPTS)))
    assert after == whole
    assert whole[0] != whole[3], "masks must matter"


def test_a_beginning_can_be_cut_and_its_rows_chosen():
    model = tiny.model()
    opening = run_opening(model, BEGIN, masks(model), None)
    text = [*BEGIN[:5], 60, 61]
    assert opening.shared([text, PROMPTS[0]]) == 5
    assert opening.shared([BEGIN]) == len(BEGIN) - 1, "one token is left to run"
    with torch.inference_mode(), model.gate(masks(model)[2]):
        whole = model.logits(torch.tensor([text]))[:, 5:]
        with model.continue_after(opening.of([2], 5)):
            torch.testing.assert_close(model.logits(torch.tensor([text[5:]])), whole, atol=1e-5, rtol=0)


def test_without_sharing_there_is_no_beginning():
    model = tiny.model()
    model.sharing = Sharing(layers=True, prefix=False, last_layer=False, tokens=False)
    opening = run_opening(model, BEGIN, masks(model), None)
    assert opening == Opening()
    assert opening.shared(PROMPTS) == 0


def test_texts_are_alike_up_to_the_token_before_they_part():
    assert tokens_alike([[1, 2, 3, 4], [1, 2, 3, 9]]) == [1, 2]
    assert tokens_alike([[1, 2], [3]]) == []
