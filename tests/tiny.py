"""Small random models of every family, a small tokenizer and small suites, all made in code."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from headatlas.heads import HeadModel
from headatlas.suites.example import Example
from headatlas.suites.suite import Suite

VOCABULARY = 400
_SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
_GROUPED = {**_SIZES, "num_key_value_heads": 2}
_WIDE = {**_GROUPED, "head_dim": 16}  # head_dim is not hidden / heads
_SPECIAL = {"bos_token_id": 0, "eos_token_id": 0}


def configs() -> dict[str, hf.PretrainedConfig]:
    """One configuration of every family we name, and of the variants that go wrong most easily."""
    return {
        "llama": hf.LlamaConfig(**_SIZES),
        "llama-grouped": hf.LlamaConfig(**_GROUPED),
        "llama-wide": hf.LlamaConfig(**_WIDE, attention_bias=True),
        "mistral": hf.MistralConfig(**_GROUPED, sliding_window=4),
        "qwen2": hf.Qwen2Config(**_GROUPED),
        "qwen3": hf.Qwen3Config(**_WIDE),
        "gemma2": hf.Gemma2Config(**_WIDE, sliding_window=4),
        "gemma3_text": hf.Gemma3TextConfig(**_WIDE, sliding_window=4),
        "phi3": hf.Phi3Config(**_GROUPED),
        "gpt2": hf.GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=3, n_head=4, n_positions=128, **_SPECIAL),
        "gpt_neox": hf.GPTNeoXConfig(**_SIZES),
        "opt": hf.OPTConfig(
            vocab_size=VOCABULARY, hidden_size=32, ffn_dim=48, num_hidden_layers=3, num_attention_heads=4,
            word_embed_proj_dim=32, max_position_embeddings=128, pad_token_id=1, **_SPECIAL,
        ),
        "bloom": hf.BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=3, n_head=4, **_SPECIAL),
        "falcon": hf.FalconConfig(
            vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, **_SPECIAL
        ),
        "falcon-grouped": hf.FalconConfig(
            vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, num_kv_heads=2,
            new_decoder_architecture=True, alibi=True, **_SPECIAL,
        ),
        "olmo2": hf.Olmo2Config(**_GROUPED),
        "granite": hf.GraniteConfig(**_GROUPED, residual_multiplier=0.5, logits_scaling=2.0),
        "starcoder2": hf.Starcoder2Config(**_GROUPED),
        "stablelm": hf.StableLmConfig(**_GROUPED),
        "olmo": hf.OlmoConfig(**_GROUPED),
        "gemma": hf.GemmaConfig(**_WIDE),
        "cohere": hf.CohereConfig(**_GROUPED),
        "phi": hf.PhiConfig(**_GROUPED),
        "smollm3": hf.SmolLM3Config(**_GROUPED),
        "qwen2_moe": hf.Qwen2MoeConfig(
            **_GROUPED, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16,
            shared_expert_intermediate_size=16,
        ),
        "gptj": hf.GPTJConfig(
            vocab_size=VOCABULARY, n_embd=32, n_layer=3, n_head=4, n_positions=128, rotary_dim=4, **_SPECIAL
        ),
        "gpt_neo": hf.GPTNeoConfig(
            vocab_size=VOCABULARY, hidden_size=32, num_layers=3, num_heads=4, max_position_embeddings=128,
            intermediate_size=48, attention_types=[[["global", "local", "global"], 1]], **_SPECIAL,
        ),
        "mixtral": hf.MixtralConfig(**_GROUPED, num_local_experts=4),
        "qwen3_moe": hf.Qwen3MoeConfig(**_WIDE, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16),
    }  # fmt: skip


FAMILIES = tuple(configs())


def module(kind: str = "llama-grouped", seed: int = 0) -> Any:
    """A random causal language model with weights large enough that every head matters."""
    torch.manual_seed(seed)
    built = hf.AutoModelForCausalLM.from_config(configs()[kind]).float().eval().requires_grad_(False)
    for parameter in built.parameters():
        if parameter.dim() > 1:
            parameter.copy_(torch.randn_like(parameter) * 0.15)
        elif parameter.abs().max() == 0:  # biases: else a forgotten bias would go unseen
            parameter.copy_(torch.randn_like(parameter) * 0.1)
    return built


@functools.cache
def tokenizer() -> Any:
    """Byte-level pairs learnt from a few sentences; some words are one token, some several."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    text = ["the sum of two and three is five", "the key is in the red box", "red blue green one two three four five"]
    raw.train_from_iterator(text * 4, trainer)
    return hf.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", pad_token="<end>")


def model(kind: str = "llama-grouped", seed: int = 0) -> HeadModel:
    return HeadModel(module(kind, seed), tokenizer(), name=f"tiny-{kind}")


def save(folder: Path, kind: str = "llama-grouped") -> Path:
    module(kind).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def suite(per_task: int = 24, tasks: tuple[str, ...] = ("Colours", "Numbers")) -> Suite:
    """Examples of two lengths, with distractors, three to a group."""
    words = ("red", "blue", "green", "one", "two", "three", "four", "five")
    examples = []
    for t, task in enumerate(tasks):
        for i in range(per_task):
            word, other, third = words[(i + t) % 8], words[(i + t + 3) % 8], words[(i + t + 5) % 8]
            prompt = f"{'the key is in the box and ' * (i % 3)}item {i} of {task} is"
            examples.append(
                Example(
                    id=f"{task}-{i}", task=task, group=f"{task}/{i // 3}",
                    prompt=prompt, answer=f" {word}", distractors=(f" {other}", f" {third}"),
                )
            )  # fmt: skip
    return Suite("tiny", tuple(examples))
