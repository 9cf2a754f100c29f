"""Maps and tables for a terminal."""

from headatlas.views.terminal.compare import comparison_table
from headatlas.views.terminal.competence import competence_table
from headatlas.views.terminal.consensus import consensus_table
from headatlas.views.terminal.console import plain_console
from headatlas.views.terminal.evidence import evidence_tables
from headatlas.views.terminal.head import head_text
from headatlas.views.terminal.heads import top_table
from headatlas.views.terminal.maps import print_maps
from headatlas.views.terminal.notes import note_tables
from headatlas.views.terminal.selftest import selftest_tables

__all__ = [
    "comparison_table",
    "competence_table",
    "consensus_table",
    "evidence_tables",
    "head_text",
    "note_tables",
    "plain_console",
    "print_maps",
    "selftest_tables",
    "top_table",
]
