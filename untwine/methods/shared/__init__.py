"""What several methods have in common: networks, inference and the terms of objectives that they share."""
