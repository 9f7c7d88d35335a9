"""Readers: one file per format, from files to arrays and samples."""
