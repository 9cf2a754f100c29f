"""The folder of a run: what its tables and run.json hold, how it is read, how it is written."""
