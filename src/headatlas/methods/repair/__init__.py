"""Self-repair: heads that take over where another one is removed."""
