"""Where the cells of a study run."""
