"""Mask the heads of a task and run lm-evaluation-harness, against random sets of heads of the same layers.

    pip install 'headatlas[eval]'
    python examples/evaluate.py atlas Turn

The tasks here are the examples of the atlas's own suite, written as task files; those that come with the harness
work alike.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import headatlas as ha
from headatlas.use.evaluate import Evaluated
from headatlas.wording import interval, signed

TASK_FILE = """task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{prompt}}}}"
doc_to_choice: options
doc_to_target: answer
metric_list: [{{metric: acc}}]
"""


def write_tasks(atlas: ha.Atlas, folder: Path) -> list[str]:
    """One task file for every mapped task, over its held-out examples; returns their names."""
    held_out = ha.load_suite(atlas.run.asked.suite, atlas.run.asked.level).split(atlas.run.settings.split_seed)[
        "evaluate"
    ]
    names = []
    for task in atlas.tasks:
        names.append(task.lower().replace(" ", "_"))
        file = folder / f"{names[-1]}.jsonl"
        rows = [{"prompt": e.prompt, "options": [e.answer.strip(), *(d.strip() for d in e.distractors)], "answer": 0}
                for e in held_out.of(task)]  # fmt: skip
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{names[-1]}.yaml").write_text(TASK_FILE.format(name=names[-1], file=file))
    return names


def evaluate(folder: str | Path, masked: str, k: int = 2, random: int = 20) -> list[Evaluated]:
    """Mask the first k heads of a task and evaluate all tasks."""
    atlas = ha.Atlas(folder)
    with tempfile.TemporaryDirectory() as tasks:
        names = write_tasks(atlas, Path(tasks))
        rows = ha.evaluate(names, f"top:{k}:{masked}", atlas=atlas, include=tasks, random=random)
    for row in rows:
        change = f"{signed(row.masked - row.intact)} ({interval(row.low, row.high, sign=True)})"
        print(f"{row.task}: {row.metric} {row.intact:.2f} intact, {row.masked:.2f} masked, {change}")
        if row.random is not None:
            bounds = interval(row.random_low, row.random_high, sign=True)
            print(f"  against {row.sets} random sets of heads: {signed(row.masked - row.random)} ({bounds})")
    return rows


if __name__ == "__main__":
    evaluate(*(sys.argv[1:] or ["atlas", "Retrieval"]))
