"""Data sets of others, turned into examples."""
