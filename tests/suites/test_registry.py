"""Built-in suites by name, and the suites that a user adds."""

from __future__ import annotations

import pytest

from headatlas.suites import load_suite

# The fingerprint and the number of examples of every built-in suite. They change only when a suite is meant to change:
# maps made with one version of a suite cannot be compared with maps made with another.
GOLDEN = {
    ("cognitive", 1): ("0b15bc4e3a1cfb4c", 2400),
    ("cognitive", 2): ("6355871b71b71624", 2400),
    ("cognitive", 3): ("ab7dfdaa8eedc35e", 2400),
    ("roles", 1): ("76dbb9184aac24d3", 1200),
    ("roles", 2): ("a42e4caf791cb433", 1200),
    ("roles", 3): ("0711905ec25a3b89", 1200),
    ("chains", None): ("a9566b85eba96d92", 799),
    ("neutral", 1): ("02e38f2a2975aef7", 300),
    ("neutral", 2): ("3719d3c2f348a009", 300),
    ("neutral", 3): ("aaa0359dd1d9698f", 300),
}


@pytest.mark.parametrize(("name", "level"), GOLDEN)
def test_built_in_suites_hold_the_recorded_examples(name: str, level: int | None) -> None:
    suite = load_suite(name, level)
    assert suite.name == name
    assert (suite.fingerprint, len(suite.examples)) == GOLDEN[name, level]
