"""Chains of five steps, low-level and high-level in turn."""

from headatlas.suites.example import Example


def chain(name: str, first: str = "red", number: str = "two") -> list[Example]:
    """Retrieval, Inference, Retrieval, Inference and one more Retrieval that nothing builds on."""
    parts = [
        ("Retrieval", f"the {first} box is", f" {first}", (" green",)),
        ("Inference", f" and the {number} is", f" {number}", (" one", " nine")),
        ("Retrieval", "\nthe key is in the", " box", ()),
        ("Inference", " and the sum is", " three", (" five", " one")),
        ("Retrieval", " and", " the", ()),
    ]
    examples, text = [], ""
    for step, (task, question, answer, distractors) in enumerate(parts):
        examples.append(
            Example(
                id=f"{name}-{step}", task=task, prompt=text + question, answer=answer, distractors=distractors,
                group=name, chain=name, step=step,
            )
        )  # fmt: skip
        text += question + answer
    return examples
