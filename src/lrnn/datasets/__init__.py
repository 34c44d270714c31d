"""Data: one reader per file format."""

from lrnn.datasets.idx import read_idx

__all__ = ["read_idx"]
