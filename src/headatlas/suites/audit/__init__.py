"""Is a suite fair? What its texts give away before any language model has read them."""
