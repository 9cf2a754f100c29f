"""Progress without a terminal: a line now and then that says what, how far, how fast and how long still."""

import re
import threading
import time
from io import StringIO

import pytest
from rich.console import Console

from headatlas.progress import SILENCE, CellsCourse, Reporter, say_share

SILENT = 0.05  # seconds between lines in these tests


def reporter(silence: float = SILENT, quiet: bool = False, terminal: bool = False) -> tuple[Reporter, StringIO]:
    file = StringIO()
    console = Console(file=file, width=200, force_terminal=terminal, highlight=False, markup=False)
    return Reporter(quiet=quiet, console=console, silence=silence), file


def wait_for_lines(file: StringIO, count: int, seconds: float = 10.0) -> list[str]:
    """The lines that were printed, once there are `count` of them: a busy machine may take its time."""
    end = time.monotonic() + seconds
    while file.getvalue().count("\n") < count and time.monotonic() < end:
        time.sleep(0.01)
    return file.getvalue().splitlines()


def test_a_long_step_says_every_now_and_then_what_how_far_how_fast_and_how_long_still():
    told, file = reporter()
    began = time.monotonic()
    with told.bar("Ablation", 4, 4000.0) as advance:
        (first, *_) = wait_for_lines(file, 1)
        assert re.fullmatch(r"Ablation: 0 of 4 done after \d+ s", first), "no rate before anything is done"
        advance(1000.0)
        before = len(file.getvalue().splitlines())
        line = wait_for_lines(file, before + 2)[-1]  # the one before it may be about the time before the advance
        elapsed = time.monotonic() - began
        parts = re.fullmatch(r"Ablation: 1 of 4 done after \d+ s, ([\d,]+) tokens/s, about (\d+) (s|min) left", line)
        assert parts, line
        rate = float(parts[1].replace(",", ""))
        assert rate >= 1000 / elapsed - 1
        left = int(parts[2]) * (60 if parts[3] == "min" else 1)
        assert left == pytest.approx(3000 / rate, abs=1 if parts[3] == "s" else 31)


def test_lines_come_at_intervals_of_the_silence_and_end_with_the_step():
    told, file = reporter(silence=0.1)
    began = time.monotonic()
    with told.bar("Gates", 2, 10.0):
        wait_for_lines(file, 3)
    elapsed = time.monotonic() - began
    lines = len(file.getvalue().splitlines())
    assert 3 <= lines <= elapsed / 0.1 + 1
    time.sleep(0.3)
    assert len(file.getvalue().splitlines()) == lines, "nothing is said after the step"


def test_a_step_that_is_over_soon_says_nothing():
    told, file = reporter(silence=SILENCE)
    with told.bar("Competence", 2, 10.0) as advance:
        advance(5.0)
        advance(5.0)
    assert file.getvalue() == ""


def test_a_step_with_nothing_to_do_says_nothing_however_long_it_takes():
    told, file = reporter()
    with told.bar("Cached", 0, 0.0):
        time.sleep(4 * SILENT)
    assert file.getvalue() == ""


def test_lines_end_also_where_the_step_fails():
    told, file = reporter()
    with pytest.raises(RuntimeError), told.bar("Gates", 2, 10.0):
        raise RuntimeError("power cut")
    time.sleep(4 * SILENT)
    assert file.getvalue() == ""


def test_a_step_of_unknown_length_says_that_it_begins_and_how_long_it_has_taken():
    told, file = reporter()
    with told.spinner("Loading the model"):
        lines = wait_for_lines(file, 2)
    assert lines[0] == "Loading the model"
    assert re.fullmatch(r"Loading the model: \d+ s so far", lines[1])


def test_quiet_says_nothing_at_all():
    told, file = reporter(quiet=True)
    with told.spinner("Loading the model"), told.bar("Ablation", 2, 10.0) as advance:
        advance(5.0)
        told.say("a remark")
        time.sleep(4 * SILENT)
    assert file.getvalue() == ""


def test_a_long_cell_says_how_far_it_is_and_nothing_counts_twice():
    moves: list[tuple[float, int]] = []
    course = CellsCourse(lambda tokens, cells=1: moves.append((tokens, cells)), 300.0)
    with course.followed():
        say_share(0.25)
        say_share(0.5)
        say_share(0.4)  # a bar does not go back
    say_share(0.9)  # nobody computes cells here
    for _ in range(3):
        course(100.0)
    assert moves == [(75.0, 0), (75.0, 0), (0.0, 0), (0.0, 1), (50.0, 1), (100.0, 1)]
    assert sum(tokens for tokens, _ in moves) == 300.0


def test_a_share_moves_only_the_bar_of_its_own_thread():
    moves: list[float] = []
    with CellsCourse(lambda tokens, cells=1: moves.append(tokens), 10.0).followed():
        other = threading.Thread(target=say_share, args=(0.5,))
        other.start()
        other.join()
    assert moves == []


def test_a_terminal_gets_a_bar_with_cells_and_rate_and_no_lines():
    told, file = reporter(terminal=True)
    with told.bar("Ablation", 2, 2000.0) as advance:
        advance(1000.0)
        time.sleep(4 * SILENT)
        advance(1000.0)
    drawn = file.getvalue()
    assert "2/2" in drawn and "tokens/s" in drawn
    assert "done after" not in drawn


def test_remarks_are_printed_as_they_are_and_never_wrapped():
    told, file = reporter()
    text = "[red] is no markup; " * 20
    told.say(text)
    assert file.getvalue() == text + "\n"
