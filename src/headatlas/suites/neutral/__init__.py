"""Continuing plain text: the control for heads that matter to everything."""
