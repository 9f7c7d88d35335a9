"""Feature extractors with pretrained weights, and distances between images in their features."""
