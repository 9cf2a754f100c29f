"""Twelve families of situations, each told as a question with its steps."""
