"""The model's own answers: greedy, many prompts at once, with cached keys and values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headatlas.errors import HeadAtlasError
from headatlas.model.heads import HeadModel
from headatlas.run.cells import Cell, Result
from headatlas.run.context import Work
from headatlas.run.scoring import Encoder
from headatlas.suites.example import Example
from headatlas.suites.suite import SPLITS, Suite

LONGEST = 24  # tokens of an answer
FORWARD_TOKENS = 1536  # padded prompt tokens that are run together
END = re.compile(r"\n|(?<=[.!?])\s")  # an answer ends with its line or its sentence


def answer(
    model: HeadModel,
    encoder: Encoder,
    prompts: Sequence[str],
    longest: int = LONGEST,
    gates: Tensor | None = None,
    baseline: Tensor | None = None,
) -> list[str]:
    """The greedy answer to every prompt, up to the end of its line or sentence; a leading space is kept.

    `gates` [prompt, layer, head] masks heads while the prompt is read and while the answer is written; `baseline`
    [layer, head, head_dim] stands in for what is masked.
    """
    fed = [encoder.ids(encoder.asked(prompt)) for prompt in prompts]
    for prompt, ids in zip(prompts, fed, strict=True):
        if len(ids) + longest > model.context:
            raise HeadAtlasError(
                f"A prompt of {len(ids)} tokens and {longest} more do not fit into the model's context of "
                f"{model.context}. Shorten it: {prompt[:60]!r}"
            )
    answers = [""] * len(prompts)
    for chunk in _chunks([len(ids) for ids in fed]):
        masked = nullcontext() if gates is None else model.gate(gates[chunk], baseline)
        with torch.inference_mode(), masked:
            written = _generate(model, [fed[i] for i in chunk], longest)
        for i, ids in zip(chunk, written, strict=True):
            answers[i] = cut(encoder.tokenizer.decode(ids, skip_special_tokens=True))
    return answers


def cut(text: str) -> str:
    """The first line or sentence of what was generated, with one leading space where there was any."""
    body = text.lstrip()
    return (" " if body != text else "") + END.split(body, maxsplit=1)[0] if body else ""


def _chunks(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Prompts of like length together, at most FORWARD_TOKENS of them (or one)."""
    chunk: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if chunk and (len(chunk) + 1) * lengths[i] > FORWARD_TOKENS:
            yield chunk
            chunk = []
        chunk.append(i)
    if chunk:
        yield chunk


def _generate(model: HeadModel, prompts: Sequence[Sequence[int]], longest: int) -> list[list[int]]:
    """New token ids of each row. Rows are padded on the left and the padding is masked, so that all end together."""
    from transformers import GenerationConfig

    width = max(map(len, prompts))
    ids = torch.zeros(len(prompts), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        mask[row, width - len(prompt) :] = 1
    ends = list(_line_ends(model.tokenizer))
    greedy = GenerationConfig(
        max_new_tokens=longest,
        do_sample=False,
        eos_token_id=ends,
        begin_suppress_tokens=ends,  # an empty line is no answer
        pad_token_id=ends[0],
    )
    # What a configuration leaves open is filled from the model's own, which may bring penalties or beams.
    habits, model.module.generation_config = model.module.generation_config, GenerationConfig()
    try:
        made = model.module.generate(
            ids.to(model.device), attention_mask=mask.to(model.device), generation_config=greedy
        )
    finally:
        model.module.generation_config = habits
    return [row[width:] for row in made.tolist()]


@lru_cache(maxsize=8)
def _line_ends(tokenizer: Any) -> tuple[int, ...]:
    """Tokens after which nothing more is generated: the end of the text, and all that hold a line break."""
    texts = tokenizer.batch_decode([[i] for i in range(len(tokenizer))])
    ends = {i for i, text in enumerate(texts) if "\n" in text}
    if tokenizer.eos_token_id is not None:
        ends.add(tokenizer.eos_token_id)
    return tuple(sorted(ends))


def with_own_answers(work: Work, longest: int = LONGEST) -> Work:
    """The same work with the model's own answers in the place of the reference ones; blank answers are left out."""
    examples = [(task, split) for task in work.tasks for split in SPLITS]
    cells = [_cell(work, work.examples(task, split), longest) for task, split in examples]
    found: dict[str, list[Example]] = {split: [] for split in SPLITS}
    blank = 0
    for (task, split), result in zip(examples, work.runner.run("Own answers", cells), strict=True):
        texts = json.loads(bytes(result["texts"]))
        for example, text in zip(work.examples(task, split), texts, strict=True):
            blank += not text.strip()
            if text.strip():
                found[split].append(example.model_copy(update={"answer": text, "distractors": ()}))
    for task, split in examples:
        if len({example.group for example in found[split] if example.task == task}) < 2:
            raise HeadAtlasError(
                f"{work.model.name} answers nothing to almost all examples of {task!r} in the {split!r} split. Use the "
                "reference answers."
            )
    if blank:
        work.runner.reporter.say(f"{blank} examples are left out: the model answers them with nothing.")
    name = work.splits["fit"].name
    return work.restricted({split: Suite(name, tuple(own)) for split, own in found.items()})


def _cell(work: Work, examples: Sequence[Example], longest: int) -> Cell:
    prompts = [example.prompt for example in examples]
    inputs = work.inputs("own answers", prompts=prompts, chat=work.encoder.chat, longest=longest)
    tokens = sum(len(work.encoder.ids(prompt)) + longest for prompt in prompts)

    def compute() -> Result:
        texts = answer(work.model, work.encoder, prompts, longest)
        return {"texts": np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)}

    return Cell(inputs, compute, tokens)
