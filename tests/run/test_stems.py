"""Texts that begin alike, some with some: their beginnings run once, and nothing else changes."""

import pytest
import torch

from headatlas.run.stems import record_stems, stem_length, stem_work
from headatlas.run.work import OVERHEAD
from tests import tiny

KINDS = ("llama-grouped", "gpt2", "bloom", "mistral", "gemma2", "qwen3_moe", "opt", "falcon-grouped")
ROWS = 8

# A header, then one of two passages, then words of each text's own: 28 + 12 + 6 tokens.
HEADER = torch.arange(200, 228).expand(ROWS, -1)
PASSAGES = torch.arange(40, 64).reshape(2, 12)[[0, 1, 0, 1, 1, 0, 0, 1]]
OWN = torch.arange(ROWS * 6).reshape(ROWS, 6) + 100
TWO_LEVELS = torch.cat((HEADER, PASSAGES, OWN), dim=1)

TEXTS = {
    "two levels": TWO_LEVELS,
    "passages alone": torch.cat((PASSAGES, OWN), dim=1),
    "all equal": TWO_LEVELS[:1].expand(ROWS, -1),
    "one like no other": torch.cat((TWO_LEVELS, torch.arange(300, 346)[None])),
    "nothing in common": OWN,
    "one text": TWO_LEVELS[:1],
}
WORK = {  # tokens and forwards
    "two levels": (28 + 2 * 12 + ROWS * 6, 3),
    "passages alone": (2 * 12 + ROWS * 6, 2),
    "all equal": (46, 1),
    "one like no other": ((ROWS + 1) * 6 + 3 * 12 + 2 * 28, 3),
    "nothing in common": (ROWS * 6, 1),
    "one text": (46, 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", TEXTS)
def test_stems_that_run_once_leave_the_keys_and_values_of_whole_texts(kind, texts, monkeypatch):
    model, ids = tiny.model(kind), TEXTS[texts]
    expected = model.record_prefix(ids)
    fed, plain = [], model.logits
    monkeypatch.setattr(model, "logits", lambda ids: fed.append(ids.numel()) or plain(ids))
    recorded = record_stems(model, ids)
    assert (sum(fed), len(fed)) == stem_work(ids)
    assert recorded.prefix == expected.prefix == ids.shape[1]
    for pair, expected_pair in zip(recorded.past, expected.past, strict=True):
        for tensor, whole in zip(pair, expected_pair, strict=True):
            torch.testing.assert_close(tensor, whole, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("texts", TEXTS)
def test_the_work_of_stems(texts):
    assert stem_work(TEXTS[texts]) == WORK[texts]


def test_a_stem_is_where_most_is_saved():
    assert stem_length(TWO_LEVELS) == 40
    assert stem_length(TWO_LEVELS[:2]) == 28
    assert stem_length(TEXTS["passages alone"][:2]) == 0


def test_a_stem_saves_more_than_a_forward_costs():
    ids = torch.cat((torch.zeros(2, OVERHEAD + 1, dtype=torch.long), torch.tensor([[1], [2]])), dim=1)
    assert stem_length(ids) == OVERHEAD + 1
    assert stem_length(ids[:, 1:]) == 0


def test_no_tokens_are_no_work():
    assert stem_work(OWN[:, :0]) == (0, 0)
    assert stem_length(OWN[:, :0]) == 0
