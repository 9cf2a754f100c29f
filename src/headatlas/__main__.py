"""`python -m headatlas`."""

from headatlas.cli import main

main()
