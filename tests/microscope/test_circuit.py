"""Circuits over the vocabulary, against products of the weights."""

import numpy as np
import pytest
import torch

from headatlas.microscope.circuit import circuits, vocabulary_words
from headatlas.microscope.pieces import word
from headatlas.planted import words as planted_words
from tests import tiny
from tests.run.contexts import run_context


def by_hand(model, layer, head, tokens):
    """What the head makes of each word [word, word]: embedding, norm, W_V, W_O, gain of the last norm, unembedding."""
    inner, weights = model.module.model, model.module
    block = inner.layers[layer]
    group = head * model.n_kv_heads // model.n_heads
    values = block.self_attn.v_proj.weight[group * model.head_dim : (group + 1) * model.head_dim]
    read = block.input_layernorm(weights.get_input_embeddings().weight[tokens]) @ values.T
    written = model.out_weight(layer)[head] * inner.norm.weight @ weights.lm_head.weight[tokens].T
    matrix = ((read - read.mean(0)) @ (written - written.mean(1, keepdim=True))).double()
    return matrix, matrix / matrix.std(0, correction=0)


def test_pairs_copying_and_itself_are_those_of_the_matrix(tmp_path):
    model = tiny.model()
    with torch.no_grad():
        model.module.model.norm.weight.copy_(torch.linspace(0.5, 2, model.d_model))
    tokens = vocabulary_words(model.tokenizer, tiny.VOCABULARY)
    for head, circuit in circuits(run_context(tmp_path, model), [(0, 1), (2, 3)]).items():
        matrix, scaled = by_hand(model, *head, tokens)
        best, partner = scaled.max(1)
        order = best.argsort(descending=True)[: len(circuit.pairs)].tolist()
        shown = [word(model.tokenizer, tokens[i]) for i in order]
        assert [pair.read for pair in circuit.pairs] == shown and len(shown) == 8
        assert [pair.written for pair in circuit.pairs] == [word(model.tokenizer, tokens[partner[i]]) for i in order]
        np.testing.assert_allclose([pair.value for pair in circuit.pairs], best[order], rtol=1e-4)
        eigenvalues = torch.linalg.eigvals(matrix)
        assert circuit.copying == pytest.approx(float(eigenvalues.real.sum() / eigenvalues.abs().sum()), abs=1e-3)
        ranks = (scaled > scaled.diagonal()[:, None]).sum(1)
        assert circuit.itself == pytest.approx(float((ranks < 10).double().mean()), abs=1e-6)
        assert circuit.tokens == len(tokens)


def test_words_are_tokens_of_letters_that_begin_a_word():
    found = [word(tiny.tokenizer(), token) for token in vocabulary_words(tiny.tokenizer(), tiny.VOCABULARY)]
    assert " red" in found and " the" in found
    assert all(text[0] == " " and text[1:].isalpha() for text in found)
    whole = planted_words.tokenizer()  # one that writes no blanks
    assert {"red", "ann"} <= {word(whole, token) for token in vocabulary_words(whole, 1000)}


def test_no_circuit_where_a_norm_comes_after_the_head(tmp_path):
    assert circuits(run_context(tmp_path, tiny.model("gemma2")), [(0, 1)]) == {}
