"""Probing: which heads carry information about the task."""
