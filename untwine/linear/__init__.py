"""Closed forms of linear models: group covariances and the contrast test."""
