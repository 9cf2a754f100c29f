"""Small random models of every family, a small tokenizer and small suites, all made in code."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from headatlas.model.heads import HeadModel
from headatlas.progress import Reporter
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


def module(kind: str = "llama-grouped", seed: int = 0, context: int | None = None) -> Any:
    """A random causal language model with weights large enough that every head matters."""
    torch.manual_seed(seed)
    config = configs()[kind]
    if context is not None:
        config.max_position_embeddings = context
    built = hf.AutoModelForCausalLM.from_config(config).float().eval().requires_grad_(False)
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


def model(kind: str = "llama-grouped", seed: int = 0, context: int | None = None) -> HeadModel:
    return HeadModel(module(kind, seed, context), tokenizer(), name=f"tiny-{kind}")


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


COLOURS, NUMBERS = ("red", "blue", "green", "key"), ("one", "two", "three", "four")
HELPERS = {"Colours": (2, 0), "Numbers": (1, 3)}  # of `planted`


def planted(context: int | None = None) -> HeadModel:
    """A model that says the word of its prompt again: one head copies the colours, another one the numbers.

    Words are basis vectors 0 to 7 of the embedding; the copying heads look everywhere alike, read their own four and
    write basis vectors 8 to 15, which only the unembedding of the words reads. All others write elsewhere.
    """
    made = model("llama", context=context)
    words = [tokenizer()(f" {word}")["input_ids"][0] for word in COLOURS + NUMBERS]
    embedding, unembedding = made.module.get_input_embeddings().weight, made.module.get_output_embeddings().weight
    with torch.no_grad():
        embedding[:, :16] = 0
        unembedding[:, :16] = 0
        for place, word in enumerate(words):
            embedding[word] = torch.eye(32)[place]
            unembedding[word, 8 + place] = 1.5
        for layer in range(made.n_layers):
            for writer in (made.out_projections[layer], made.layers[layer].mlp.down_proj):
                writer.weight.mul_(0.3)
                writer.weight[:16] = 0
        for first, (layer, head) in zip((0, 4), HELPERS.values(), strict=True):
            attention, own = made.layers[layer].self_attn, slice(head * made.head_dim, (head + 1) * made.head_dim)
            attention.q_proj.weight[own] = 0
            attention.v_proj.weight[own] = 0
            attention.v_proj.weight[own][:4, first : first + 4] = torch.eye(4)
            made.out_weight(layer)[head] = 0
            made.out_weight(layer)[head][:4, 8 + first : 12 + first] = 20 * torch.eye(4)
    return made


def copying(per_task: int = 24) -> Suite:
    """What the heads of `planted` do: the word of the prompt again. Two examples to a group, several lengths."""
    fillers = ("the key", "the sum", "in the box", "of", "and", "is")
    examples = []
    for task, words in (("Colours", COLOURS), ("Numbers", NUMBERS)):
        for i in range(per_task):
            word, filler = words[i % 4], fillers[i // 4 % 6].replace("key", "box" if task == "Colours" else "key")
            wrong = [other for other in words if other != word][: 1 + i % 3]
            examples.append(
                Example(
                    id=f"{task}-{i}", task=task, group=f"{task}/{i // 2}",
                    prompt=f"{filler}{' is in the box and' * (i % 3)}{' of' * (i // 24)} {word} is",
                    answer=f" {word}", distractors=tuple(f" {other}" for other in wrong),
                )
            )  # fmt: skip
    return Suite("copying", tuple(examples))


class Listener(Reporter):
    """Keeps what is said instead of printing it."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)
