"""Questions answered in several steps, each step one cognitive function."""
