"""Commands as a user types them."""

import pytest

from untwine.cli.app import main

TOY = {"n_target": 60, "n_background": 40, "n_common": 2, "n_salient": 1}
DATA = ("--data", "toy_contrast", *(word for name, value in TOY.items() for word in ("--data-set", f"{name}={value}")))
TINY = ("--set", "epochs=1", "--set", "width=8", "--set", "n_common=3", "--set", "n_salient=2", "--quiet")


def exit_code(*arguments):
    """Run a command and return its exit code."""
    with pytest.raises(SystemExit) as done:
        main([str(argument) for argument in arguments])
    return done.value.code


def run(*arguments):
    """Run a command that must succeed."""
    assert exit_code(*arguments) == 0
