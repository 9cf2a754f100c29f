"""Push the heads of a task while a model writes.

    python examples/steer.py atlas "Syntactic Understanding" 5 "The keys to the cabinet"

What the test `steer` of `headatlas verify` measured at this strength is printed beside the text, with its controls.
"""

from __future__ import annotations

import sys
from pathlib import Path

import headatlas as ha


def steer(atlas: str | Path, task: str, strength: float | None, prompt: str, tokens: int = 12) -> tuple[str, str]:
    """What the model writes without and with the push."""
    opened = ha.Atlas(atlas)
    model = ha.load(opened.run.asked.model)  # any generation with this model can be steered
    ids = model.tokenizer(prompt, return_tensors="pt")["input_ids"]

    def write() -> str:
        written = model.module.generate(ids, max_new_tokens=tokens, do_sample=False)
        return model.tokenizer.decode(written[0, ids.shape[1] :])

    plain = write()
    with opened.steering(task, strength, model=model):
        steered = write()
    print(f"{prompt}\n  plain:   {plain!r}\n  steered: {steered!r}")
    return plain, steered


if __name__ == "__main__":
    folder, task, strength, prompt = sys.argv[1:5]
    steer(folder, task, float(strength), prompt)
