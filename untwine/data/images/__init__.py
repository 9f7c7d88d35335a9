"""Images that data sets draw, cut out, blend and align."""
