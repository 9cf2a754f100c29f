"""The words that planted models speak, and their tokenizer: one token per word."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

BEGIN, END, UNKNOWN = "<begin>", "<end>", "<unknown>"
NAMES = ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jon", "kim", "leo")
COLOURS = ("red", "blue", "green", "gold", "pink", "grey", "black", "white", "brown", "teal", "plum", "lime")
ORDINALS = ("first", "second", "third", "fourth", "fifth")
FILLERS = ("so", "now", "then", "well")
COMMANDS = ("give", "turn", "seen")
WORDS = (END, BEGIN, UNKNOWN, *NAMES, *COLOURS, *ORDINALS, *FILLERS, *COMMANDS)
ANSWERS = (*COLOURS, *NAMES)  # what a planted model can say


def ids(words: tuple[str, ...]) -> list[int]:
    return [WORDS.index(word) for word in words]


def prompt_ids(prompts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Token ids [prompt, pos], padded on the right, and the position of the last token of each."""
    import torch

    rows = [torch.tensor(ids((BEGIN, *prompt.split()))) for prompt in prompts]
    padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return padded, torch.tensor([len(row) - 1 for row in rows])


@functools.cache
def tokenizer() -> Any:
    """Words between blanks; every text begins with BEGIN, which heads with nothing to do can look at."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token=UNKNOWN))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", special_tokens=[(BEGIN, WORDS.index(BEGIN))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token=BEGIN, eos_token=END, pad_token=END, unk_token=UNKNOWN
    )
