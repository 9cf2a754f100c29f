"""Settings of the whole process."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys, torch, headatlas
if sys.argv[1] == "reuse":
    headatlas.reuse_freed_memory()
def use():
    torch.ones(12_000_000)  # more than glibc ever keeps by itself
for _ in range(5):
    use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(40):
    use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left as they are")
def test_freed_memory_is_used_again_and_not_faulted_in_anew():
    assert faults("reuse") < 0.1 * faults("as it is")


ENDING = """
import os, sys
from headatlas.process import end_at_once
print("x" * 100)
os.close(1)
end_at_once(130)
"""


def test_the_code_of_an_end_holds_where_nobody_reads_what_is_left():
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


INTERRUPTED = """
import atexit
import headatlas.cli as cli

def interrupted():
    raise SystemExit(130)

atexit.register(print, "what Python does at its end")
cli.app = interrupted
cli.main()
"""


def test_a_command_that_was_interrupted_ends_at_once_whoever_noticed_it():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
