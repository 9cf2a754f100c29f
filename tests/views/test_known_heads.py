"""The line about models with known heads, in every report, and the table of the docs."""

from pathlib import Path

import pytest

from headatlas.planted.record import BarOutcome, packaged
from headatlas.views import known_heads
from headatlas.views.known_heads import known_heads_line, known_heads_rows, known_heads_section, with_section
from tests.workflows.test_selftest import NullDraws, SelfTest, one


@pytest.fixture
def recorded(monkeypatch):
    def record(*scores, null=()):
        test = SelfTest(version="0", seconds=0, processor_seconds=0, models=(), scores=scores, null=null)
        monkeypatch.setattr(known_heads, "packaged", lambda: test)
        return test

    return record


def test_a_method_in_one_line(recorded):
    null = NullDraws(method="ablate", draws=100, with_discovery=2)
    recorded(
        one("ablate", auroc=1.0, false_discoveries=0), one("ablate", "b", auroc=0.9, false_discoveries=3), null=(null,)
    )
    assert known_heads_line("ablate") == (
        "On models with known heads this method tells heads that matter from others with an AUROC of 0.95 (2 maps; "
        "least 0.90, on b), gives no head the wrong sign, is wrong about 3 of 16 heads that do not matter and "
        "discovers nothing in 98 of 100 models where no head matters."
    )


def test_wrong_signs_are_named_with_their_flag(recorded):
    recorded(one("attribute", "saturated", sign_errors=1, flagged=True))
    assert known_heads_line("attribute").endswith(
        "and gives 1 head the wrong sign (on saturated, where its own check of signs says so)."
    )


def test_the_line_says_which_heads_a_method_looks_for(recorded):
    recorded(one("repair", looks_for=("backup",), sign_errors=None))
    assert known_heads_line("repair") == (
        "On models with known heads this method tells backup heads from others with an AUROC of 1.00 (1 map)."
    )


def test_a_method_that_was_not_tested(recorded):
    recorded(one("ablate"))
    assert known_heads_line("mine") == "This method has not been tested on models with known heads."


def test_rows_of_the_table(recorded):
    test = recorded(
        one("ablate", auroc=0.5, sign_errors=2), one("ablate", auroc=None, average_precision=None, recall=None)
    )
    assert known_heads_rows(test) == [["ablate", "2", "0.50", "0.50", "1.00", "1.00", "2", "–", "–", "–", "–"]]


def test_backup_heads_count_for_methods_that_name_heads(recorded):
    named = one("repair", backups=2, backups_named=1, roles_right=10)
    (row, silent) = known_heads_rows(recorded(named, one("attribute", backups=2)))
    assert (row[9], silent[9]) == ("1 of 2", "–")


def test_the_docs_name_the_bars_that_were_missed(recorded):
    test = recorded(one("ablate"))
    bars = (BarOutcome(name="a", says="what is asked", met=False, missed_by=("one", "two")),
            BarOutcome(name="b", says="", met=True))  # fmt: skip
    section = known_heads_section(test.model_copy(update={"bars": bars, "processor_seconds": 61.4}))
    assert section.endswith("It took 61 s of processor time. 1 of 2 bars are met. Missed:\n\n- what is asked: one; two")


def test_the_docs_show_the_record():
    """If this fails: python scripts/record_selftest.py docs"""
    text = (Path(__file__).parents[2] / "docs" / "truth.md").read_text()
    assert with_section(text, packaged()) == text
