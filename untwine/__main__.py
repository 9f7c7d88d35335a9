"""`python -m untwine`, which is what torchrun starts."""

from untwine.cli import main

main()
