"""Whether two maps are the same, byte for byte."""

from headatlas.workflows.map import TABLES


def assert_same(out, one):
    """Tables and cells, and nothing left behind by workers."""
    for name in TABLES:
        assert (out / name).read_bytes() == (one / name).read_bytes(), name
    mine, theirs = ({path.name: path.read_bytes() for path in (folder / "cells").iterdir()} for folder in (out, one))
    assert mine == theirs
    assert not (out / "work").exists()
