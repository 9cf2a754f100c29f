"""What the command line changes for the whole process. The library leaves the process of its caller alone."""

from __future__ import annotations

import contextlib
import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of <malloc.h>


def reuse_freed_memory() -> None:
    """Let the process reuse the buffers it frees. By default glibc hands large ones back to the kernel, which faults
    them in again page by page at the next operation: a forward of 1,536 tokens is about a tenth faster without that."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library has no mallopt
            libc = ctypes.CDLL(None)
            libc.mallopt(M_MMAP_THRESHOLD, 1 << 30)
            libc.mallopt(M_TRIM_THRESHOLD, 1 << 30)
