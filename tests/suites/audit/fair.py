"""A fair suite, and ways to make it unfair."""

import random

from headatlas.suites.example import Example
from headatlas.suites.suite import Knowledge, Suite

TEXT = """able acid baby back calm card dark deal east edge face fact gain game hair half idea iron join jump keen kind
lady lake main mark name neck open oven page pain quit race rain safe sand take tale unit user vast view wage wait
yard year zero zone animal bottle candle dinner engine family garden hammer island jacket"""
WORDS = TEXT.split()


def clean(size=150, tasks=("A", "B")):
    """Two tasks that differ in nothing: five words, four options in any order, the answer any of them."""
    rng = random.Random(0)
    fields = []
    for task in tasks:
        for i in range(size):
            options = rng.sample(WORDS, 4)
            text = " ".join(rng.choices(WORDS, k=5))
            mentioned = rng.sample(options, 4)
            prompt = f"{text} of {', '.join(mentioned)} choose the"
            group = f"{task}{i // 2}"
            fields.append({"id": f"{task}{i}", "task": task, "prompt": prompt, "answer": f" {options[0]}",
                           "distractors": tuple(f" {o}" for o in options[1:]), "group": group})  # fmt: skip
    return fields


def suite_of(fields, knowledge=None):
    return Suite("fair", tuple(Example(**example) for example in fields), knowledge or Knowledge())


def planted(change, task="B"):
    """The fair suite with every example of one task changed: `change(fields, index)` returns the new fields."""
    return suite_of([e | change(e, i) if e["task"] == task else e for i, e in enumerate(clean())])


def long_distractors(example, i):
    return {"distractors": tuple(f"{o} and so on" for o in example["distractors"])}
