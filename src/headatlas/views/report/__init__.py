"""report.md: what an atlas says, in Markdown."""
