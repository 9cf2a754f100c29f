"""Sizes from shapes alone, against known numbers."""

import pytest
import transformers as hf

from headatlas.model.outline import read_outline
from headatlas.model.sizes import sizes
from tests import tiny

LLAMA = {"vocab_size": 128_256, "num_key_value_heads": 8}
SHAPES = {
    "1B": hf.LlamaConfig(
        **LLAMA, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        tie_word_embeddings=True,
    ),
    "8B": hf.LlamaConfig(
        **LLAMA, hidden_size=4096, intermediate_size=14_336, num_hidden_layers=32, num_attention_heads=32
    ),
    "70B": hf.LlamaConfig(
        **LLAMA, hidden_size=8192, intermediate_size=28_672, num_hidden_layers=80, num_attention_heads=64
    ),
    "8x7B": hf.MixtralConfig(),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameters", "active"),
    [
        ("1B", 1_235_814_400, 1_235_814_400),
        ("8B", 8_030_261_248, 8_030_261_248),
        ("70B", 70_553_706_496, 70_553_706_496),
        ("8x7B", 46_702_792_704, 12_879_925_248),
    ],
)
def test_parameters_of_known_shapes(name, parameters, active):
    size = sizes(read_outline(SHAPES[name], dtype="bfloat16"))
    assert (size.parameters, size.active) == (parameters, active)
    assert size.weights == 2 * parameters
    # A token is multiplied with all active weights but those of the embedding, the norms and the logits.
    outside = 2 * size.vocabulary * size.width if name != "1B" else size.vocabulary * size.width
    norms = (2 * size.layers + 1) * size.width
    assert size.matrices == active - outside - norms


def test_a_token_of_the_8b_shape():
    size = sizes(read_outline(SHAPES["8B"], dtype="bfloat16"))
    assert size.key_values == 2 * 32 * 8 * 128 * 2
    assert (size.written, size.shared, size.mlp, size.norms) == (4096, 1024, 3 * 14_336, 2)
    assert size.flops(40) == 2 * size.matrices + 4 * 32 * 4096 * 40 + 2 * 128_256 * 4096 / 40


def test_the_sizes_of_an_outline_are_those_of_the_model():
    for kind in ("llama-grouped", "gpt2", "mixtral", "qwen2_moe"):
        assert sizes(read_outline(tiny.configs()[kind])) == sizes(tiny.model(kind))
