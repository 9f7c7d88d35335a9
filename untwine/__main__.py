"""`python -m untwine`, which is what torchrun starts."""

from untwine.cli.app import main

main()
