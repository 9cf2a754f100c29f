"""Other people's data as suites."""
