"""Files that appear whole or not at all, and plain words when the disk says no."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headatlas.errors import HeadAtlasError, UsageError

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # of file systems without hard links
MOST_MISSED = 100  # times that a folder may be removed by others before a file is in it


@contextmanager
def atomic(path: Path, tag: str = "") -> Iterator[Path]:
    """A temporary name beside `path` to write to; synced and renamed at the end, removed if anything fails. Where
    several processes may write the same file, each gives a `tag` of its own."""
    temporary = path.with_name(f".{path.name}{tag}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        temporary.unlink(missing_ok=True) if path.parent.is_dir() else None


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside `path`, which is new or empty; renamed at the end, removed if anything fails."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if temporary.exists():  # left by a run that was killed
            shutil.rmtree(temporary)
        temporary.mkdir()
        yield temporary
        if path.is_dir():
            path.rmdir()
        os.replace(temporary, path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_new_folder(path: Path) -> Path:
    """Refuse a folder that holds something, and a file."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        what = "is not empty" if path.is_dir() else "is a file"
        raise UsageError(f"`out` {path} {what}. Give a new folder.")
    return path


def write_bytes(path: Path, content: bytes, tag: str = "") -> None:
    with atomic(path, tag) as temporary:
        temporary.write_bytes(content)


def write_first(path: Path, content: bytes, tag: str) -> bool:
    """Write a file unless there is one: of several processes, each with a `tag` of its own, one succeeds. It appears
    with its content, whenever a process is killed."""
    temporary = path.with_name(f".{path.name}{tag}.tmp")
    missed = 0
    try:
        while True:
            try:
                return _link(temporary, path, content)
            except FileNotFoundError:  # another process has just removed the folder
                missed += 1
                if missed == MOST_MISSED:
                    raise
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _link(temporary: Path, path: Path, content: bytes) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary.write_bytes(content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if path.exists():
            return False
        os.replace(temporary, path)
    return True


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from None


def remove_in_use(folder: Path) -> None:
    """Remove a folder into which a process that is just ending may still write its last word. What cannot be removed
    within a second stays."""
    for _ in range(10):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise HeadAtlasError(
            f"Cannot remove {path}: {error.strerror}. Remove it by hand, or choose another folder."
        ) from None


def unwritable(path: Path, error: OSError) -> HeadAtlasError:
    """What the system said when a file could not be written, and what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    why = "there is no room left" if full else error.strerror or str(error)
    todo = "Make room" if full else "Make it writable or choose another folder"
    return HeadAtlasError(
        f"Cannot write {path}: {why}. Nothing that was finished is lost. {todo} and run the same command again."
    )
