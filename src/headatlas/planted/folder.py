"""A planted model as a folder: the model and its tokenizer as transformers saves them, its tasks, and the truth."""

from __future__ import annotations

from pathlib import Path

from headatlas.files import write_bytes
from headatlas.planted.base import Planted
from headatlas.suites.suite import to_jsonl

TASKS, TRUTH = "tasks.jsonl", "truth.csv"


def save(planted: Planted, folder: str | Path, seed: int = 0) -> Path:
    """Write a planted model; `headatlas map --model FOLDER --suite FOLDER/tasks.jsonl` then maps it as any other."""
    folder, truth, model = Path(folder), planted.truth(seed), planted.build(seed)
    model.module.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    write_bytes(folder / TASKS, to_jsonl(planted.suite(seed).examples).encode())
    write_bytes(folder / TRUTH, truth.to_csv().encode())
    return folder
