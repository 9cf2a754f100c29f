"""Random masks of heads, and a sparse regression of what a task loses on which heads were removed."""
