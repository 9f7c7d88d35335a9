"""Drawing, resizing and combining images."""
