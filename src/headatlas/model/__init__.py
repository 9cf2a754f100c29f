"""The language model and the one seam to its attention heads."""
