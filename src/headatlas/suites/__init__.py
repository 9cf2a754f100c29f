"""Suites of tasks: built in, registered by the user, or read from a task file."""

from headatlas.suites.registry import SUITES, load_suite, register_suite

__all__ = ["SUITES", "load_suite", "register_suite"]
