"""One process at a time writes an atlas."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headatlas.errors import HeadAtlasError


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold the lock of an atlas folder, which is created if it does not exist."""
    from filelock import FileLock, Timeout

    lock = FileLock(out / ".lock", blocking=False)
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise HeadAtlasError(
            f"Another process is writing the atlas {out}. Wait for it, or choose another `out`."
        ) from None
    except OSError as error:
        raise HeadAtlasError(f"Cannot use the folder {out}: {error.strerror}. Choose another `out`.") from None
    try:
        yield
    finally:
        lock.release()
