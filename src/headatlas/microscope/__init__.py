"""Single heads, seen closely: the examples they decide, where they look, what they write, and on whom they depend."""
