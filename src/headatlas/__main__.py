from headatlas.cli import main

main()
