"""`untwine --install-completion`: tab completion of commands and flags in the user's shell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from cyclopts import App

STARTUP = {"bash": "~/.bashrc", "zsh": "~/.zshrc"}  # fish finds its completions by itself


def completion_command(app: App) -> Callable[..., None]:
    """Return the command that installs the completion of an app."""

    def install(*, shell: Literal["bash", "zsh", "fish"] | None = None, output: Path | None = None) -> None:
        """Install tab completion of commands and flags for bash, zsh or fish.

        For example:

        - for the current shell: `untwine --install-completion`
        - for another one: `untwine --install-completion --shell fish`

        Parameters
        ----------
        shell
            The shell to install for; the current one by default.
        output
            The completion script to write; by default where the shell looks for completions in your home folder. For bash and
            zsh, a line that loads it is added to ~/.bashrc or ~/.zshrc, once.
        """
        shell = shell or _current_shell()
        path = app.install_completion(shell=shell, output=output)
        print(f"completion for {shell} written: {path}")
        startup = STARTUP.get(shell)
        print(f"{startup} loads it; open a new shell to use it." if startup else "open a new shell to use it.")

    return install


def _current_shell() -> Literal["bash", "zsh", "fish"]:
    from cyclopts.completion.detect import ShellDetectionError, detect_shell

    try:
        shell = detect_shell()
    except ShellDetectionError:
        raise ValueError("the current shell must be bash, zsh or fish; it was not recognised; pass --shell.") from None
    if shell == "powershell":
        raise ValueError("the shell must be bash, zsh or fish; got powershell; pass --shell.")
    return shell
