"""The run folder: the only package that knows its file names, formats and versions."""
