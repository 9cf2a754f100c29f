"""The answers that the model writes: greedy, many prompts at once, with cached keys and values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import HeadModel
from headatlas.model.partial import LayerInputs
from headatlas.run.cells import Cell, CellKind, Result
from headatlas.run.context import RunContext
from headatlas.run.encoding import Encoder
from headatlas.run.interventions import FORWARD_TOKENS
from headatlas.run.openings import Opening
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS

ANSWERS = CellKind("generated answers", 2)
TITLE = "Generated answers"
LONGEST = 24  # tokens of an answer
END = re.compile(r"\n|(?<=[.!?])\s")  # an answer ends with its line or its sentence


def answer(
    model: HeadModel,
    encoder: Encoder,
    prompts: Sequence[str],
    longest: int = LONGEST,
    gates: Tensor | None = None,
    baseline: Tensor | None = None,
    opening: Opening | None = None,
) -> list[str]:
    """The greedy answer to every prompt, up to the end of its line or sentence; a leading space is kept.

    `gates` [prompt, layer, head] masks heads while the prompt is read and while the answer is written; `baseline`
    [layer, head, head_dim] replaces what is masked. An `opening` of the prompts under these gates is not run again.
    """
    opening = opening or Opening()
    fed = [encoder.prompt_ids(prompt) for prompt in prompts]
    for prompt, ids in zip(prompts, fed, strict=True):
        if len(ids) + longest > model.context:
            raise HeadAtlasError(
                f"A prompt of {len(ids)} tokens and {longest} more do not fit into the model's context of "
                f"{model.context}. Shorten it: {prompt[:60]!r}"
            )
    answers = [""] * len(prompts)
    prefix = opening.shared(fed)
    for chunk in chunks_by_length([len(ids) - prefix for ids in fed]):
        masked = nullcontext() if gates is None else model.gate(gates[chunk], baseline)
        with torch.inference_mode(), masked:
            written = generate(model, [fed[i] for i in chunk], longest, opening.of(chunk, prefix))
        for i, ids in zip(chunk, written, strict=True):
            answers[i] = cut(encoder.tokenizer.decode(ids, skip_special_tokens=True))
    return answers


def cut(text: str) -> str:
    """The first line or sentence of what was generated, with one leading space where there was any."""
    body = text.lstrip()
    return (" " if body != text else "") + END.split(body, maxsplit=1)[0] if body else ""


def chunks_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Prompts of similar length together, at most FORWARD_TOKENS of them (or one)."""
    chunk: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if chunk and (len(chunk) + 1) * lengths[i] > FORWARD_TOKENS:
            yield chunk
            chunk = []
        chunk.append(i)
    if chunk:
        yield chunk


def generate(
    model: HeadModel, prompts: Sequence[Sequence[int]], longest: int, past: LayerInputs | None = None
) -> list[list[int]]:
    """New token ids for prompts of token ids, at most `longest` for each, without a cut at the end of the answer.

    Rows are padded on the left and the padding is masked, so that all prompts end together. Keys and values of a prefix
    of all prompts may be given as `past`.
    """
    from transformers import DynamicCache, GenerationConfig

    width = max(map(len, prompts))
    ids = torch.zeros(len(prompts), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        mask[row, width - len(prompt) :] = 1
    padding = [width - len(prompt) for prompt in prompts]
    cached = {}
    # The positions of padded rows must come from the mask: some modules count them from the beginning of the cache.
    exact = not any(padding) or "position_ids" in signature(model.module.forward).parameters
    if past is not None and past.prefix > max(padding) and exact:
        shifted = [(_padded(keys, padding), _padded(values, padding)) for keys, values in past.past]
        cached["past_key_values"] = DynamicCache(shifted)
    ends = list(line_ends(model.tokenizer))
    greedy = GenerationConfig(
        max_new_tokens=longest,
        do_sample=False,
        eos_token_id=ends,
        begin_suppress_tokens=ends,  # an empty line is no answer
        pad_token_id=ends[0],
    )
    # What a configuration leaves open is filled from the model's default, which may bring penalties or beams.
    usual, model.module.generation_config = model.module.generation_config, GenerationConfig()
    try:
        generated = model.module.generate(
            ids.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=greedy,
            **cached,
        )
    finally:
        model.module.generation_config = usual
    return [row[width:] for row in generated.tolist()]


def _padded(past: Tensor, padding: Sequence[int]) -> Tensor:
    """Keys or values [row, head, pos, head_dim] with padding on the left of every row; what no longer fits is cut off
    on the right, to be run again."""
    shifted = torch.zeros_like(past)
    for row, shift in enumerate(padding):
        shifted[row, :, shift:] = past[row, :, : past.shape[2] - shift]
    return shifted


@lru_cache(maxsize=8)
def line_ends(tokenizer: Any) -> tuple[int, ...]:
    """Tokens after which nothing more is generated: the end of the text, and all that hold a line break."""
    texts = tokenizer.batch_decode([[i] for i in range(len(tokenizer))])
    ends = {i for i, text in enumerate(texts) if "\n" in text}
    if tokenizer.eos_token_id is not None:
        ends.add(tokenizer.eos_token_id)
    return tuple(sorted(ends))


def with_generated_answers(context: RunContext, longest: int = LONGEST) -> RunContext:
    """The same context with the model's answers instead of the reference ones; blank answers are left out."""
    parts, cells = _parts(context), answer_cells(context, longest)
    answered: dict[str, list[Example]] = {split: [] for split in SPLITS}
    blank = 0
    for (task, split), result in zip(parts, context.runner.run(TITLE, cells), strict=True):
        texts = json.loads(bytes(result["texts"]))
        for example, text in zip(context.examples(task, split), texts, strict=True):
            if text.strip():
                answered[split].append(example.model_copy(update={"answer": text, "distractors": ()}))
            else:
                blank += 1
    for task, split in parts:
        if len({example.group for example in answered[split] if example.task == task}) < 2:
            raise HeadAtlasError(
                f"{context.model.name} answers nothing to almost all examples of {task!r} in the {split!r} split. Use "
                "the reference answers."
            )
    if blank:
        context.say(f"{blank} examples are left out: the model answers them with nothing.")
    return context.with_splits(
        {split: replace(suite, examples=tuple(answered[split])) for split, suite in context.splits.items()}
    )


def answer_cells(context: RunContext, longest: int = LONGEST) -> list[Cell]:
    """One cell per task and split."""
    return [_cell(context, context.examples(task, split), longest) for task, split in _parts(context)]


def _parts(context: RunContext) -> list[tuple[str, str]]:
    return [(task, split) for task in context.tasks for split in SPLITS]


def _cell(context: RunContext, examples: Sequence[Example], longest: int) -> Cell:
    encoder = context.encoder
    prompts = [example.prompt for example in examples]
    fed = [encoder.prompt_ids(prompt) for prompt in prompts]

    def compute() -> Result:
        texts = answer(context.model, encoder, prompts, longest)
        return {"texts": np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)}

    tokens = sum(len(ids) + longest for ids in fed)
    forwards = longest * sum(1 for _ in chunks_by_length([len(ids) for ids in fed]))
    return context.cell(
        ANSWERS, compute, tokens, forwards=forwards, fed=fed, tokenizer=encoder.fingerprint, longest=longest
    )
