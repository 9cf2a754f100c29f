"""Made-up atlases for tests: written in milliseconds by the functions that write real ones.

`write_atlas` takes maps whose values are known; `rich_atlas` makes structured random numbers for everything that a
view can show. Declarations are those of the real methods and tests.
"""

from tests.atlases.known import Known, competent, from_examples, measured, write_atlas
from tests.atlases.rewriting import rewrite_evidence
from tests.atlases.rich import COGNITIVE, HOSTILE, made_up_findings, rich_atlas

__all__ = [
    "COGNITIVE",
    "HOSTILE",
    "Known",
    "competent",
    "from_examples",
    "made_up_findings",
    "measured",
    "rewrite_evidence",
    "rich_atlas",
    "write_atlas",
]
