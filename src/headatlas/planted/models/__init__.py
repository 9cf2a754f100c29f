"""The planted models, one file each."""
