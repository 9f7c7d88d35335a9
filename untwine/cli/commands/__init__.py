"""The commands, one file each.

A file `NAME.py` here is the command `untwine NAME`. It defines `command`, a function or a cyclopts `App` with subcommands, and
`ORDER`, its place in `untwine --help`. Heavy modules are imported inside the function, so that `--help` is quick.
"""
