"""Errors as one sentence: what must hold, what came, what to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from cyclopts import App, CycloptsError, UnknownOptionError

from untwine.registry.checks import nearest


def sentence(error: Exception, app: App) -> str:
    """Return an error of a command as one sentence."""
    text = " ".join(str(error).split())
    if isinstance(error, CycloptsError):
        chain, tokens = tuple(error.command_chain or ()), list(error.root_input_tokens or ())
        option = _unknown_option(error, app, chain)
        return _parsing(text, chain) if option is None else unknown_option(option, tokens, chain, _flags(app, chain))
    if isinstance(error, OSError) and error.strerror:
        return f"cannot use {error.filename}: {error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return f"not enough memory ({text.rstrip('.')}); use fewer samples or a smaller batch."
    return text


def _parsing(text: str, chain: Sequence[str]) -> str:
    first, *more = text.rstrip(".").split(". ")
    text = "; ".join(
        (f"{first} (see `{' '.join(('untwine', *chain, '--help'))}`)", *(words[0].lower() + words[1:] for words in more))
    )
    return text if text.endswith("?") else f"{text}."


def _unknown_option(error: CycloptsError, app: App, chain: Sequence[str]) -> str | None:
    """Return the first unknown flag, if there is one: it is named even where another error, a missing flag, comes first."""
    if isinstance(error, UnknownOptionError):
        return error.token.keyword or error.token.value
    flags = _flags(app, chain) if chain else ()
    given = (token.partition("=")[0] for token in error.unused_tokens or () if re.match(r"--\w", token))
    return next((token for token in given if token not in flags), None)


def _flags(app: App, chain: Sequence[str]) -> tuple[str, ...]:
    for name in chain:
        app = app[name]
    if app.default_command is None:
        return ("--help",)
    return (*(name for argument in app.assemble_argument_collection() for name in argument.names if name[0] == "-"), "--help")


def unknown_option(option: str, tokens: Sequence[str], chain: Sequence[str], flags: Iterable[str]) -> str:
    """Return the sentence on an unknown flag: the setting that was meant, or the nearest flag.

    Parameters
    ----------
    option
        The unknown flag, such as "--epochs".
    tokens
        All words of the command line.
    chain
        The command, such as ("fit",).
    flags
        The flags of the command.
    """
    name, flags = option.lstrip("-").replace("-", "_"), tuple(flags)
    refused = f"`{' '.join(('untwine', *chain))}` has no option {option}"
    # By the option's name alone: that of a metric is set as "z_diff.pairs".
    settings = {
        flag: {full.rpartition(".")[2]: full for full in names(tokens)} for flag, names in SETTINGS.items() if flag in flags
    }
    for flag, names in settings.items():
        if name in names:
            return f"{refused}; did you mean `{_setting(flag, names[name], option, tokens)}`?"
    if near := nearest(option, flags, 0.75):
        return f"{refused}; did you mean {near}?"
    for flag, names in settings.items():
        if near := nearest(name, names):
            return f"{refused}; did you mean `{_setting(flag, names[near], option, tokens)}`?"
    return f"{refused}; see `{' '.join(('untwine', *chain, '--help'))}`."


def _setting(flag: str, name: str, option: str, tokens: Sequence[str]) -> str:
    """Return the words that set an option to the value given after the unknown flag, such as "--set epochs=3"."""
    i = next((i for i, token in enumerate(tokens) if token.partition("=")[0] == option), len(tokens))
    after = " ".join(tokens[i : i + 1]).partition("=")[2] or " ".join(tokens[i + 1 : i + 2])
    value = "..." if not after or after.startswith("--") else shlex.quote(after)
    return f"{flag} {name}={value}"


def _method_options(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the options of the method that a command line names; of the default method where it names none."""
    from untwine.methods import METHODS

    return tuple(METHODS[next((token for token in tokens if token in METHODS), next(iter(METHODS)))]().get_params())


def _data_options(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the options of the data set that a command line names; none where it names none."""
    import inspect

    from untwine.data import data_sets

    known = data_sets()
    name = next((token for token in tokens if token in known), None)
    return () if name is None else tuple(inspect.signature(known[name]).parameters)


def _metric_options(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the options of the metrics that a command line names, each with its metric."""
    from dataclasses import fields

    from untwine.evaluation.registry import METRICS

    named = [METRICS[token] for token in tokens if token in METRICS]
    return tuple(f"{metric.name}.{field.name}" for metric in named for field in fields(metric.options))


SETTINGS = {"--set": _method_options, "--data-set": _data_options, "--metric-set": _metric_options}
