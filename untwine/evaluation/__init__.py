"""From a fitted method and samples to scores, galleries, diagnostics and advice."""
