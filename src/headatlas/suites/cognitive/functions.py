"""The eight cognitive functions by name, and what is known about them."""

from __future__ import annotations

from headatlas.suites.suite import Knowledge

# In the order in which their maps are shown.
TASKS = (
    "Knowledge Recall", "Retrieval", "Logical Reasoning", "Decision-making",
    "Semantic Understanding", "Syntactic Understanding", "Inference", "Math Calculation",
)  # fmt: skip

# Finding, knowing and understanding come first in a chain of steps; what is concluded from them comes later.
LOW = ("Retrieval", "Knowledge Recall", "Semantic Understanding", "Syntactic Understanding")
HIGH = ("Math Calculation", "Inference", "Logical Reasoning", "Decision-making")

KNOWLEDGE = Knowledge(
    low_level=LOW,
    high_level=HIGH,
    showcase=("Math Calculation", "Syntactic Understanding"),
    answer_in_prompt=("Retrieval",),
    answer_not_in_prompt=("Knowledge Recall",),
)
