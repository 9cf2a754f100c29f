"""Blank models of ordinary transformers classes, and how a head is written into one by hand."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from headatlas.planted.residual import Residual
from headatlas.planted.words import ANSWERS, BEGIN, NAMES, WORDS, ids

CONTEXT = 32  # positions
HEAD_DIM = 32
Head = tuple[int, int]  # (layer, head)
# prev: the token before; found: what a head has looked up for a later one; out: what the model is about to say;
# done: a head has answered.
SIZES = {"token": len(WORDS), "prev": len(WORDS), "found": 12, "out": len(ANSWERS), "done": 1, "steady": 1}
LOGITS = 6.0  # logit of an answer for which `out` holds 1


class Canvas:
    """A causal language model whose heads are written one by one.

    `steady` is a constant in every position that makes up nearly all of the norm: normalising then changes next to
    nothing, and what a head reads is what others wrote. With `steady` = 0 norms are free to vary. `planted` are the
    heads written by hand; all others become noise (`noise.fill`).
    """

    layers: int
    heads: int
    kv_heads: int
    width: int
    content: list[int]  # dimensions of a head in which position plays no part
    readable: tuple[str, ...] = ("token", "prev")  # spaces that noise reads

    def __init__(self, module: Any, sizes: dict[str, int], seed: int, steady: float | None = None):
        self.module = module.float().eval().requires_grad_(False)
        self.generator = torch.Generator().manual_seed(seed)
        self.space = Residual(self.width, sizes, self.generator)
        self.steady = math.sqrt(self.width - 8) if steady is None else steady
        self.planted: dict[Head, str] = {}
        for parameter in self.module.parameters():
            if parameter.dim() > 1:
                parameter.zero_()
        self.embedding = self.module.get_input_embeddings().weight
        self.embedding.copy_(self.space["token"] + self.steady * self.space["steady"])
        self.unembedding = self.module.get_output_embeddings().weight
        self.unembedding[ids(ANSWERS)] = LOGITS * self.space["out"]

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator)

    def tokens(self, words: tuple[str, ...], space: str = "token") -> Tensor:
        """The directions of words [word, width]."""
        return self.space[space][ids(words)]

    def out(self, words: tuple[str, ...]) -> Tensor:
        """The directions that make the model say words [word, width]."""
        return self.space["out"][[ANSWERS.index(word) for word in words]]

    # Views of the weights of one head: query, key and value [head_dim, width], out [width, head_dim].
    def query(self, head: Head) -> Tensor:
        raise NotImplementedError

    def key(self, head: Head) -> Tensor:
        raise NotImplementedError

    def value(self, head: Head) -> Tensor:
        raise NotImplementedError

    def write(self, head: Head) -> Tensor:
        raise NotImplementedError

    def mlps(self) -> list[tuple[list[Tensor], Tensor]]:
        """Of every layer, the matrices with which its MLP reads [hidden, width], and that with which it writes
        [width, hidden]."""
        raise NotImplementedError

    def plant(self, head: Head, role: str, shared: bool = False) -> None:
        """Clear a head that is about to be written by hand; with `shared`, not the keys and values of its group."""
        self.planted[head] = role
        for weights in (self.query(head), self.write(head)) + (() if shared else (self.key(head), self.value(head))):
            weights.zero_()

    def look(self, head: Head, query: Tensor, key: Tensor, score: float) -> None:
        """Let a position that holds `query`[i] look at those that hold `key`[i] [pair, width]; they get `score`."""
        self.ask(head, query, score)
        self.offer(head, key)

    def ask(self, head: Head, query: Tensor, score: float) -> None:
        """The queries of `look` alone, for a head whose keys another one has written."""
        self.query(head)[self.content[: len(query)]] += score * math.sqrt(HEAD_DIM) * query

    def offer(self, head: Head, key: Tensor) -> None:
        """The keys of `look` alone."""
        self.key(head)[self.content[: len(key)]] += key

    def rest(self, head: Head, query: Tensor, score: float) -> None:
        """Let a position look at the first token, with a score of `score` for every 1 of `query` that it holds."""
        self.ask_rest(head, query, score)
        self.key(head)[self.content[-1]] += self.tokens((BEGIN,))[0]

    def ask_rest(self, head: Head, query: Tensor, score: float) -> None:
        """The query of `rest` alone."""
        self.query(head)[self.content[-1]] += score * math.sqrt(HEAD_DIM) * query

    @property
    def always(self) -> Tensor:
        """What every position holds once."""
        return self.space["steady"][0] / self.steady

    def copy(self, head: Head, source: Tensor, target: Tensor, size: float = 1.0) -> None:
        """Let a head write `target`[i] for every `source`[i] that it looks at, both [word, width]."""
        self.value(head)[: len(source)] += source
        self.say(head, target, size)

    def say(self, head: Head, target: Tensor, size: float = 1.0) -> None:
        """What `copy` writes alone, for a head whose values another one has written."""
        self.write(head)[:, : len(target)] += size * target.T

    def look_back(self, head: Head, score: float) -> None:
        """Let every position look at the one before."""
        raise NotImplementedError

    def remember_previous(self, head: Head, score: float, words: tuple[str, ...] = NAMES, size: float = 1.0) -> None:
        """A previous-token head: write the token before, if it is one of `words`, into `prev`."""
        self.plant(head, "helps")
        self.look_back(head, score)
        self.copy(head, self.tokens(words), self.tokens(words, "prev"), size)


class GPT2Canvas(Canvas):
    """GPT-2: learned positions, LayerNorm, biases, one key and value per head."""

    readable = ("token", "prev", "position")

    def __init__(self, seed: int, layers: int = 3, heads: int = 6, steady: float | None = None):
        from transformers import GPT2Config, GPT2LMHeadModel

        self.layers, self.heads, self.kv_heads, self.width = layers, heads, heads, heads * HEAD_DIM
        self.content = list(range(HEAD_DIM))
        config = GPT2Config(
            vocab_size=len(WORDS), n_embd=self.width, n_layer=layers, n_head=heads, n_positions=CONTEXT,
            bos_token_id=1, eos_token_id=0, tie_word_embeddings=False,
        )  # fmt: skip
        super().__init__(GPT2LMHeadModel(config), {**SIZES, "position": CONTEXT}, seed, steady)
        self.module.transformer.wpe.weight.copy_(self.space["position"])

    def _joint(self, head: Head, part: int) -> Tensor:
        """Query, key and value stand side by side in one matrix [width, 3 * width]."""
        layer, number = head
        first = part * self.width + number * HEAD_DIM
        return self.module.transformer.h[layer].attn.c_attn.weight[:, first : first + HEAD_DIM].T

    def query(self, head: Head) -> Tensor:
        return self._joint(head, 0)

    def key(self, head: Head) -> Tensor:
        return self._joint(head, 1)

    def value(self, head: Head) -> Tensor:
        return self._joint(head, 2)

    def write(self, head: Head) -> Tensor:
        layer, number = head
        return self.module.transformer.h[layer].attn.c_proj.weight[number * HEAD_DIM : (number + 1) * HEAD_DIM].T

    def mlps(self) -> list[tuple[list[Tensor], Tensor]]:
        return [([block.mlp.c_fc.weight.T], block.mlp.c_proj.weight.T) for block in self.module.transformer.h]

    def look_back(self, head: Head, score: float) -> None:
        positions = self.space["position"]
        self.look(head, positions[1:], positions[:-1], score)


class LlamaCanvas(Canvas):
    """Llama: rotary positions, RMSNorm, no biases, two query heads to every key and value."""

    def __init__(self, seed: int, layers: int = 3, heads: int = 8, kv_heads: int = 4, steady: float | None = None):
        from transformers import LlamaConfig, LlamaForCausalLM

        self.layers, self.heads, self.kv_heads, self.width = layers, heads, kv_heads, 192
        half = HEAD_DIM // 2
        # Pairs (i, i + half) turn with the position, fast for small i; from the middle on hardly at all.
        self.content = [*range(half // 2, half), *range(half + half // 2, HEAD_DIM)]
        config = LlamaConfig(
            vocab_size=len(WORDS), hidden_size=self.width, intermediate_size=64, num_hidden_layers=layers,
            num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=HEAD_DIM,
            max_position_embeddings=CONTEXT, bos_token_id=1, eos_token_id=0,
            tie_word_embeddings=False,
        )  # fmt: skip
        super().__init__(LlamaForCausalLM(config), SIZES, seed, steady)

    def _rows(self, head: Head, projection: str, number: int) -> Tensor:
        attention = self.module.model.layers[head[0]].self_attn
        return getattr(attention, projection).weight[number * HEAD_DIM : (number + 1) * HEAD_DIM]

    def query(self, head: Head) -> Tensor:
        return self._rows(head, "q_proj", head[1])

    def key(self, head: Head) -> Tensor:
        return self._rows(head, "k_proj", head[1] * self.kv_heads // self.heads)

    def value(self, head: Head) -> Tensor:
        return self._rows(head, "v_proj", head[1] * self.kv_heads // self.heads)

    def write(self, head: Head) -> Tensor:
        layer, number = head
        attention = self.module.model.layers[layer].self_attn
        return attention.o_proj.weight[:, number * HEAD_DIM : (number + 1) * HEAD_DIM]

    def mlps(self) -> list[tuple[list[Tensor], Tensor]]:
        mlps = [block.mlp for block in self.module.model.layers]
        return [([mlp.gate_proj.weight, mlp.up_proj.weight], mlp.down_proj.weight) for mlp in mlps]

    def look_back(self, head: Head, score: float) -> None:
        """Six pairs that turn at different speeds, set so that they agree exactly one position back."""
        half, base = HEAD_DIM // 2, 10_000.0
        size = score * math.sqrt(HEAD_DIM)
        for i in range(6):
            speed = base ** (-i / half)
            self.key(head)[i] += self.always
            self.query(head)[i] += size * math.cos(speed) * self.always
            self.query(head)[i + half] -= size * math.sin(speed) * self.always
