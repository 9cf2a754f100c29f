"""Run the self-test, write the record that reports quote, and put its table into docs/truth.md. A few minutes.

With the word `docs`, only the table is written, from the record as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headatlas.planted.record import packaged  # noqa: E402
from headatlas.views.known_heads import known_heads_section, with_section  # noqa: E402
from headatlas.workflows.selftest import selftest  # noqa: E402

RECORD, DOCS = ROOT / "src" / "headatlas" / "planted" / "record.json", ROOT / "docs" / "truth.md"

if __name__ == "__main__":
    test = packaged() if sys.argv[1:] == ["docs"] else selftest()
    RECORD.write_text(test.model_dump_json(indent=1) + "\n")
    DOCS.write_text(with_section(DOCS.read_text(), test))
    print(known_heads_section(test))
