"""Timings, side by side in one run."""
