"""Two maps of the same tasks: of two models, checkpoints, methods or settings.

The interval of a rank correlation is about examples, not about heads: the heads of a model are all there are, and the
examples are a sample. It says where the correlation would lie with other examples, as many as these. Noise makes two
maps of the same effects correlate below 1.
"""

from headatlas.patterns.compare.compare import compare, compare_if_possible
from headatlas.patterns.compare.result import ComparedTask, Comparison, Estimate
from headatlas.patterns.compare.sides import Side

__all__ = ["ComparedTask", "Comparison", "Estimate", "Side", "compare", "compare_if_possible"]
