"""How much memory is free."""

import mmap
from pathlib import Path

import pytest
import torch

from headatlas.model import free_memory as module
from headatlas.model.free_memory import free_memory, resident_memory


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="only Linux says")
def test_main_memory_is_what_the_system_calls_available():
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert 0 < free_memory(torch.device("cpu")) <= total
    assert free_memory(torch.device("meta")) is None


def test_of_a_device_that_is_not_here_nobody_says(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert free_memory(torch.device("cuda:3")) is None


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="only Linux says")
def test_a_container_has_what_is_left_of_its_limit(tmp_path, monkeypatch):
    for name, text in (("LIMIT", "3000"), ("USED", "2500"), ("STATISTICS", "anon 5\ninactive_file 700\n")):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(module, name, tmp_path / name)
    assert free_memory(torch.device("cpu")) == 1200  # files that were read give way
    (tmp_path / "LIMIT").write_text("max")
    assert free_memory(torch.device("cpu")) > 1_000_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says")
def test_what_a_process_holds_grows_with_what_it_touches():
    before, size = resident_memory(), 50_000_000
    with mmap.mmap(-1, size) as held:  # pages that no allocator had before
        held.write(bytes(size))
        assert resident_memory() - before > 0.9 * size


def test_where_nobody_says_what_a_process_holds_nothing_is_said(monkeypatch):
    monkeypatch.setattr(module, "Path", lambda _: Path("/nowhere"))
    assert resident_memory() is None
