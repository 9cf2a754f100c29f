"""The bundled model itself: fetched, loaded, opened and scored."""

import numpy as np
import pytest
import torch

from headatlas.model import bundled
from headatlas.model.loading import load
from headatlas.run.batches import make_batches
from headatlas.run.encoding import Encoder
from headatlas.suites.cognitive import cognitive

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model():
    return load("smollm2")


def test_it_is_fetched_converted_and_complete(model):
    assert bundled.is_complete(bundled.folder())
    assert model.shape == (30, 9)
    assert (model.n_kv_heads, model.head_dim, model.d_model) == (3, 64, 576)
    assert model.dtype == torch.float32


@torch.no_grad()
def test_nothing_gated_gives_the_same_bits_and_heads_sum_to_the_attention_output(model):
    ids = model.tokenizer("The capital of France is", return_tensors="pt")["input_ids"]
    plain = model.module(input_ids=ids, use_cache=False).logits  # bits are compared between identical calls only
    with model.gate(torch.ones(1, *model.shape)), model.capture() as z:
        assert torch.equal(model.logits(ids), plain)
    assert model.tokenizer.decode(plain[0, -1].argmax()) == " Paris"
    for layer in (0, 15, 29):
        whole = model.out_projections[layer](z[layer].flatten(-2))
        written = torch.einsum("bphd,hdm->bpm", z[layer], model.out_weight(layer))
        torch.testing.assert_close(written, whole, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_it_chooses_the_grammatical_word_far_above_chance(model):
    """The whole way of scoring, on a task the model is known to do: four options, chance is a quarter."""
    examples = cognitive(32, seed=11, generators=["syntactic_understanding"]).examples
    encoder, hits = Encoder(model), []
    for batch in make_batches([encoder.encode(example) for example in examples]):
        logprobs = batch.score(model)[0]
        for place in range(len(batch.members)):
            own = logprobs[batch.owners == place]
            hits.append(bool(own[0] == own.max()))
    assert len(hits) == 32
    assert np.mean(hits) > 0.5
