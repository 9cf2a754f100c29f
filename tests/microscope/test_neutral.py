"""Plain text on a small model, against plain forwards."""

import numpy as np
import pytest
import torch

from headatlas.microscope.neutral import SCORED, WINDOW, on_plain_text
from headatlas.suites import load_suite
from tests import tiny
from tests.run.contexts import run_context

HEADS = [(0, 1), (2, 3)]


@pytest.fixture(scope="module")
def texts():
    return {split: part.examples[:5] for split, part in load_suite("neutral").split().items()}


def windows(model, examples):
    return [model.tokenizer(example.prompt + example.answer)["input_ids"][:WINDOW] for example in examples]


def test_what_a_token_loses_with_a_head_at_its_mean(tmp_path, texts):
    model = tiny.model()
    seen = on_plain_text(run_context(tmp_path, model), HEADS, texts["evaluate"], texts["fit"])
    z = []
    for tokens in windows(model, texts["fit"]):
        with torch.no_grad(), model.capture() as captured:
            model.logits(torch.tensor([tokens[:-1]]))
        z.append(torch.stack([captured[layer][0] for layer in range(model.n_layers)]))  # [layer, pos, head, dim]
    mean = torch.cat(z, 1).mean(1)
    for head in HEADS:
        gates, lost = torch.ones(model.shape), []
        gates[head] = 0
        for tokens in windows(model, texts["evaluate"]):
            assert len(tokens) == WINDOW
            ids = torch.tensor([tokens[:-1]])
            with torch.no_grad():
                intact = model.logits(ids)
                with model.gate(gates, mean):
                    changed = model.logits(ids)
            scores = [
                part[0].log_softmax(-1)[torch.arange(WINDOW - 1), torch.tensor(tokens[1:])][-SCORED:].mean()
                for part in (intact, changed)
            ]
            lost.append(float(scores[0] - scores[1]))
        assert seen[head].lost.value == pytest.approx(np.mean(lost), abs=1e-5)
        assert seen[head].texts == 5


def test_shares_of_attention_add_up_and_are_those_of_the_weights(tmp_path, texts):
    model = tiny.model()
    seen = on_plain_text(run_context(tmp_path, model), HEADS, texts["evaluate"], texts["fit"])
    for head in HEADS:
        shares = {look.text: look.value for look in seen[head].looks}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-4)
        expected = []
        for tokens in windows(model, texts["evaluate"]):
            with torch.no_grad():
                weights = model.attention(torch.tensor([tokens[:-1]]))[head[0]][0, head[1]]
            expected.append((weights[2:, 0].mean(), weights.diagonal()[2:].mean()))
        first, itself = np.mean(expected, axis=0)
        assert shares["the first token"] == pytest.approx(first, abs=1e-4)
        assert shares["the token itself"] == pytest.approx(itself, abs=1e-4)


def test_where_no_weights_are_returned_only_looks_are_missing(tmp_path, texts, monkeypatch):
    model = tiny.model()
    monkeypatch.setattr(model, "attention", lambda ids: None)
    seen = on_plain_text(run_context(tmp_path, model), HEADS[:1], texts["evaluate"], texts["fit"])
    assert seen[HEADS[0]].looks is None and seen[HEADS[0]].lost.value != 0
