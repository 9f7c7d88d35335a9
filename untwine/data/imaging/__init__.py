"""Volumes of medical imaging: finding the scans of each subject, reading slices or whole volumes, and writing NIfTI back."""
