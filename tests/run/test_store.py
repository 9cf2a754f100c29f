"""What workers share: claims that outlive nobody, first words that hold, and errors in plain words."""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headatlas import files
from headatlas.errors import HeadAtlasError
from headatlas.files import remove_in_use
from headatlas.run import store as stores
from headatlas.run.store import FolderStore, Silences
from headatlas.run.worker import Worker, birth


@pytest.fixture
def store(tmp_path):
    return FolderStore(tmp_path)


@pytest.fixture
def dead():
    """The number of a process that was killed."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    born = birth(process.pid)
    process.kill()
    process.wait()
    return {"pid": process.pid, "born": born}


def present(store, name, **fields):
    worker = Worker(name=name, **fields)
    store.tell(worker.record())
    return worker


def test_one_worker_gets_a_claim_and_the_others_wait_until_it_is_released(store):
    present(store, "a"), present(store, "b")
    assert store.take("cell", "a")
    assert not store.take("cell", "b")
    assert store.claims() == {"cell": "a"}
    store.release("cell")
    assert store.take("cell", "b")


def test_the_claim_of_a_killed_process_is_taken_over_at_once(store, dead):
    present(store, "killed", **dead), present(store, "b")
    assert store.take("cell", "killed")
    assert store.take("cell", "b")
    assert store.claims() == {"cell": "b"}


def test_another_process_with_the_number_of_a_killed_one_is_not_taken_for_it(store):
    present(store, "old", born="long ago"), present(store, "b")
    assert store.take("cell", "old")
    assert store.take("cell", "b")


def test_a_worker_on_another_machine_counts_as_gone_after_a_minute_of_silence_on_our_clock(store, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(stores.time, "monotonic", lambda: now)
    far = present(store, "far", where="elsewhere", started=time.time() + 1e6)  # its clock is days ahead
    assert store.take("cell", "far")
    assert not store.take("cell", "b")
    now += 50
    assert not store.take("cell", "b")
    far.beat += 1
    store.tell(far.record())
    now += 50
    assert not store.take("cell", "b")
    now += 61
    assert store.take("cell", "b")


def test_a_claim_without_a_name_as_a_crash_of_the_machine_leaves_it_is_taken_over(store):
    (store.work / "claims").mkdir(parents=True)
    (store.work / "claims" / "cell").touch()
    assert store.take("cell", "b")


def test_where_a_number_may_have_gone_to_another_process_silence_tells(store, monkeypatch):
    """A system that does not say when a process was started."""
    now = 1000.0
    monkeypatch.setattr(stores.time, "monotonic", lambda: now)
    monkeypatch.setattr("headatlas.run.worker.birth", lambda pid: "")
    present(store, "a", born="")
    assert store.take("cell", "a") and not store.take("cell", "b")
    now += 61
    assert store.take("cell", "b")


def test_who_begins_a_run_removes_what_dead_workers_left_and_nothing_of_the_living(store, dead):
    present(store, "killed", **dead), present(store, "alive")
    store.take("one", "killed"), store.take("two", "alive")
    store.fail("one", "killed", "why")
    store.begin(0, {"stage": "a", "title": "b", "cells": []})
    store.lead()
    assert store.claims() == {"two": "alive"}
    assert store.failures() == {} and store.steps() == []
    assert [worker.name for worker in store.workers()] == ["alive"]


def test_nothing_but_results_is_left_at_the_end(store):
    present(store, "a")
    store.take("cell", "a")
    store.write("key", b"content")
    (store.cells / ".key.safetensors.other-1.tmp").touch()
    store.close()
    assert [path.name for path in store.cells.iterdir()] == ["key.safetensors"]
    assert not store.work.exists()


def test_a_worker_that_is_late_leaves_nothing_behind(store):
    late = present(store, "late")
    store.close()
    late.ended = True
    store.tell(late.record())
    store.begin(3, {"stage": "a", "title": "b", "cells": []})
    assert not store.work.exists()


def test_a_claim_that_is_released_after_the_end_leaves_nothing_behind(store):
    present(store, "late")
    store.close()
    assert store.take("cell", "late")
    store.release("cell")
    assert not store.work.exists()


def test_the_first_worker_says_what_all_compute_with(store):
    assert store.agree({"torch": "1"}) is None, "nobody makes a map"
    present(store, "a")
    assert store.agree({"torch": "1"}) == {"torch": "1"}
    assert store.agree({"torch": "2"}) == {"torch": "1"}


def test_silence_is_counted_from_the_last_change(monkeypatch):
    now = 5.0
    monkeypatch.setattr(stores.time, "monotonic", lambda: now)
    silences = Silences()
    assert silences.of("a", 1) == 0
    now = 9.0
    assert silences.of("a", 1) == 4 and silences.of("a", 2) == 0


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit on file sizes")
def test_a_full_disk_is_said_in_words_and_leaves_no_claim(store):
    """A file-size limit makes the kernel refuse the write, as a full disk does."""
    present(store, "a")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        with pytest.raises(HeadAtlasError, match="there is no room left. Nothing that was finished is lost. Make room"):
            store.take("cell", "a")
        with pytest.raises(HeadAtlasError, match="there is no room left"):
            store.write("key", b"content")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert store.claims() == {} and store.finished() == frozenset()
    assert not [path for folder in (store.cells, store.work / "claims") for path in folder.iterdir()]


@pytest.mark.skipif(not os.path.isdir("/sys"), reason="needs a folder in which nobody may write")
def test_a_folder_that_nobody_can_write_is_said_in_words():
    store = FolderStore(Path("/sys/headatlas"))
    with pytest.raises(HeadAtlasError, match=r"Cannot write /sys/headatlas/work/claims/cell: .* choose another folder"):
        store.take("cell", "a")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_said_in_words(store, tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(HeadAtlasError, match=r"Cannot write .*Permission denied.*choose another folder"):
            store.take("cell", "a")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_where_claims_should_be_is_said_in_words(store):
    store.work.mkdir()
    (store.work / "claims").touch()
    with pytest.raises(HeadAtlasError, match=r"Cannot write .*claims.* Nothing that was finished is lost"):
        store.take("cell", "a")


def test_a_claim_is_taken_however_often_others_remove_the_folder(store, monkeypatch):
    """Whoever releases the last claim removes the folder, perhaps just before another one writes to it."""
    written, plain = [], Path.write_bytes

    def removed_first(path, content):
        written.append(path)
        if len(written) < 5:
            path.parent.rmdir()
        return plain(path, content)

    monkeypatch.setattr(Path, "write_bytes", removed_first)
    assert store.take("cell", "worker")
    assert store.claims() == {"cell": "worker"}
    assert len(written) == 5


def test_a_worker_that_is_stopped_loses_its_claim_after_a_minute(store, monkeypatch):
    """Its process is there, so only its silence tells."""
    now = 1000.0
    monkeypatch.setattr(stores.time, "monotonic", lambda: now)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        present(store, "stopped", pid=process.pid, born=birth(process.pid))
        assert store.take("cell", "stopped") and not store.take("cell", "b")
        now += 61
        assert store.take("cell", "b")
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def test_the_record_of_a_worker_that_another_version_wrote_is_read(store):
    """What it does not say of its process is not taken from this one, which lives."""
    record = {**Worker(name="old").record(), "lanes": 3}
    for name in ("busy", "where", "pid", "born"):
        del record[name]
    worker = Worker.of(record)
    assert worker.name == "old" and not worker.is_here and worker.pid == 0


def test_a_folder_goes_although_a_process_that_is_ending_still_writes_there(tmp_path, monkeypatch):
    """What it writes while the folder is removed goes the next time."""
    folder, last_words, remove_tree = tmp_path / "jobs", ["one", "two"], shutil.rmtree

    def written_meanwhile(path, **options):
        remove_tree(path, **options)
        if last_words:
            folder.mkdir()
            (folder / last_words.pop()).write_text("")

    folder.mkdir()
    monkeypatch.setattr(files.shutil, "rmtree", written_meanwhile)
    remove_in_use(folder)
    assert not folder.exists() and not last_words
