"""Closed forms: group covariances and the contrast test."""
