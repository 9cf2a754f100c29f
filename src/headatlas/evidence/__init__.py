"""Tests of finished maps by intervention: one file for each kind."""
