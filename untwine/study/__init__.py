"""Studies: many runs (data set x method x seed) described by one file, and the long table of their scores."""

from untwine.study.study import RunSummary, Study, Table

__all__ = ["RunSummary", "Study", "Table"]
