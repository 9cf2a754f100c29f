"""From examples to token ids: every option of an example is tokenised together with its prompt, once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import HeadModel
from headatlas.suites.example import Example


@dataclass(frozen=True)
class Option:
    """One tokenised text of an example: `tokens[start:]` is scored."""

    tokens: tuple[int, ...]
    start: int


class Encoder:
    """Turns texts into options with one tokenizer, plain or through its chat template."""

    def __init__(self, model: HeadModel, chat: bool = False):
        self.tokenizer, self.context, self.chat = model.tokenizer, model.context, chat
        self._lock = threading.Lock()  # fast tokenizers refuse a second thread while they are at work
        if self.tokenizer is None:
            raise HeadAtlasError(f"{model.name} was given without a tokenizer, which is needed to read examples.")
        if chat and not getattr(self.tokenizer, "chat_template", None):
            raise HeadAtlasError(f"The tokenizer of {model.name} has no chat template. Leave `chat` out.")
        begin = self.tokenizer.bos_token_id
        adds_begin = begin is not None and self.tokenizer("a")["input_ids"][:1] == [begin]
        self._begin = [begin] if adds_begin else []
        self._encoded: dict[tuple[str, tuple[str, ...]], list[Option]] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that turns text into tokens and back: the tokenizer, its special tokens (generation ends with
        one and leaves them out of the text), and the chat template if it is used."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        rules = backend.to_str() if backend is not None else json.dumps(self.tokenizer.get_vocab(), sort_keys=True)
        template = str(self.tokenizer.chat_template) if self.chat else ""
        special = [self.tokenizer.eos_token_id, sorted(self.tokenizer.all_special_ids), self._begin]
        return hashlib.sha256(f"{rules}\0{template}\0{special}".encode()).hexdigest()[:16]

    def ids(self, text: str) -> list[int]:
        with self._lock:
            tokens = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens if self.chat else self._begin + tokens  # a chat template has written the special tokens

    def prompt_text(self, prompt: str) -> str:
        """The text that is fed for a prompt: itself, or what the chat template makes of it."""
        if not self.chat:
            return prompt
        turn = [{"role": "user", "content": prompt}]
        return self.tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)

    def prompt_ids(self, prompt: str) -> list[int]:
        return self.ids(self.prompt_text(prompt))

    def encode(self, example: Example) -> list[Option]:
        """The answer first, then the distractors."""
        return self.encode_texts(example.id, example.prompt, (example.answer, *example.distractors))

    def encode_texts(self, name: str, prompt: str, texts: tuple[str, ...]) -> list[Option]:
        """A prompt with each of several texts after it, tokenised once; `name` is that of the example, for errors.

        Where a tokenizer merges the end of the prompt with the beginning of a text, all of them are scored from the
        last token that none of them changes, so that they stay comparable.
        """
        if (prompt, texts) not in self._encoded:
            self._encoded[prompt, texts] = self._encode(name, self.prompt_text(prompt), texts)
        return self._encoded[prompt, texts]

    def _encode(self, name: str, prompt: str, texts: tuple[str, ...]) -> list[Option]:
        if self.chat:
            texts = tuple(text.lstrip() for text in texts)
        prompt_alone = self.ids(prompt)
        with_options = [self.ids(prompt + text) for text in texts]
        start = min(common_prefix(prompt_alone, tokens) for tokens in with_options)
        for text, tokens in zip(texts, with_options, strict=True):
            if len(tokens) <= start:
                raise HeadAtlasError(
                    f"Example {name!r}: {text!r} tokenises to nothing after its prompt, so it cannot be scored."
                )
            if len(tokens) > self.context:
                raise HeadAtlasError(
                    f"Example {name!r} has {len(tokens)} tokens with {text!r}; the model's context holds "
                    f"{self.context}. Shorten it or leave it out."
                )
        if start == 0:
            raise HeadAtlasError(f"Example {name!r}: no token of its prompt comes before the answer.")
        return [Option(tuple(tokens), start) for tokens in with_options]


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """The length of the common prefix."""
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return i
    return min(len(a), len(b))
