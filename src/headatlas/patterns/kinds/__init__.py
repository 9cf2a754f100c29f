"""Every kind of statement. A new kind is one file in this folder and one entry in one of these lists.

ABOVE_NULL is in none of them: it is asked first, of every map, and decides which maps hold effects.
The order matters for reproducibility: the kinds of a list draw their nulls from one random generator, in this order.
"""

from headatlas.patterns.comparison import TaskComparison
from headatlas.patterns.kind import Kind
from headatlas.patterns.kinds.above_null import ABOVE_NULL
from headatlas.patterns.kinds.depth import DEPTH, LAYERS, SPREAD
from headatlas.patterns.kinds.hot_spot import HOT_SPOT
from headatlas.patterns.kinds.neighbours import KV_GROUPS, NEIGHBOURS
from headatlas.patterns.kinds.outliers import OUTLIERS
from headatlas.patterns.kinds.rank_agreement import AGREEMENT, STABILITY, MapPairs
from headatlas.patterns.kinds.shared_heads import SHARED_HEADS
from headatlas.patterns.kinds.sparsity import SPARSITY
from headatlas.patterns.kinds.specific_heads import SPECIFIC_HEADS
from headatlas.patterns.kinds.task_differences import DENSITY, DEPTH_DIFFERENCE
from headatlas.patterns.nulls import Nulls

OF_MAPS_WITH_EFFECTS: list[Kind[Nulls]] = [
    SPARSITY,
    OUTLIERS,
    DEPTH,
    SPREAD,
    LAYERS,
    HOT_SPOT,
    NEIGHBOURS,
    KV_GROUPS,
]
OF_SEVERAL_TASKS: list[Kind[TaskComparison]] = [SHARED_HEADS, DENSITY, DEPTH_DIFFERENCE, SPECIFIC_HEADS]
OF_PAIRS_OF_METHODS: list[Kind[MapPairs]] = [AGREEMENT]
OF_PAIRS_OF_SEEDS: list[Kind[MapPairs]] = [STABILITY]

ALL_KINDS: list[Kind] = [
    ABOVE_NULL,
    *OF_MAPS_WITH_EFFECTS,
    *OF_SEVERAL_TASKS,
    *OF_PAIRS_OF_METHODS,
    *OF_PAIRS_OF_SEEDS,
]
