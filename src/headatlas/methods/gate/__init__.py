"""Causal head gating: gates learned on a frozen model, and the roles of heads they imply."""
