"""Choosing a method for data, and its settings: `untwine compare` and `untwine tune`, under a budget of time."""
