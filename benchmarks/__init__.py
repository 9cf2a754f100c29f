"""Timings, as ratios measured side by side in one run, because machines are noisy."""
