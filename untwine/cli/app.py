"""The app of the command line: it registers the modules of `untwine.cli.commands`, and `main` runs it."""

from __future__ import annotations

import os
import pkgutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from cyclopts import App, CycloptsError

from untwine.cli import commands
from untwine.cli.completion import completion_command
from untwine.cli.flags import EVERY
from untwine.cli.pages import command_page
from untwine.cli.sentences import sentence

app = App(
    name="untwine",
    help="Disentangle data with the supervision you really have. Start with `untwine demo`; then `untwine list methods`.",
    help_format="markdown",
    help_epilogue=command_page(""),
    default_parameter=EVERY,
    suppress_keyboard_interrupt=False,  # `main` says how to resume
)


def _register() -> None:
    """Add every module of `untwine.cli.commands` under its file's name."""
    modules = [import_module(f"{commands.__name__}.{module.name}") for module in pkgutil.iter_modules(commands.__path__)]
    for module in sorted(modules, key=lambda module: int(module.ORDER)):
        name = module.__name__.rpartition(".")[2]
        app.command(module.command, name=name)
        app[name].sort_key = module.ORDER
        app[name].help_epilogue = command_page(name)
    app.command(completion_command(app), name="--install-completion")


_register()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; bad input ends with one sentence and exit code 2."""
    from untwine.training.errors import TrainingError
    from untwine.training.threads import sleep_while_waiting

    sleep_while_waiting()
    try:
        try:
            with _plain_warnings():
                app(arguments, exit_on_error=False, print_error=False)
        finally:
            sys.stdout.flush()  # a closed pipe is noticed here, not at interpreter exit
    except BrokenPipeError:  # such as by `| head`: there is nobody left to report to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        _stop("stopped; an interrupted fit continues with the same command and --resume.", 130)
    except TrainingError as error:
        _stop(str(error), 1)
    except (CycloptsError, ValueError, TypeError, OSError, MemoryError) as error:
        if os.environ.get("UNTWINE_DEBUG"):
            raise
        _stop(sentence(error, app), 2)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show our own warnings as the sentences that they are, without the file and the line of code that gave them."""
    usual = warnings.formatwarning

    def sentence_of(message: Warning | str, category: type[Warning], *where: Any, **rest: Any) -> str:
        return f"untwine: warning: {message}\n" if category is UserWarning else usual(message, category, *where, **rest)

    warnings.formatwarning = sentence_of
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _stop(text: str, code: int) -> None:
    print(f"untwine: {text}", file=sys.stderr)
    sys.exit(code)
