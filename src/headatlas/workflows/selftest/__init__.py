"""The self-test: every method on every planted model, compared with the truth."""

from headatlas.workflows.selftest.run import selftest

__all__ = ["selftest"]
