"""The command line: `app` finds the commands, and `commands` has one file for each."""
