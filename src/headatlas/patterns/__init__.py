"""What the maps of an atlas show: every kind of statement as a statistic with a null, and one verdict over all of them.

People see bands and hot spots in any heatmap. Here each such statement is a number, compared with what the same map
would give if the statement were false, noise included. All statements are corrected together, so that maps of pure
noise state anything at all in at most 5 % of atlases. `kinds/` holds one declaration per kind; docs/patterns.md
explains them. `consensus.py` asks something else: which heads do several methods support?
"""

from headatlas.patterns.consensus import Consensus, consensus_tasks, find_consensus
from headatlas.patterns.find import find_patterns
from headatlas.patterns.finding import Finding

__all__ = ["Consensus", "Finding", "consensus_tasks", "find_consensus", "find_patterns"]
