"""The UCI repository's text files: a row per line, "?" for a cell that is missing."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from lrnn.arrays import Floats
from lrnn.datasets.dataset import DataSet, Raw

MISSING = "?"


def read_records(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """The rows of text files; missing cells are filled, or their rows are left out."""
    columns = entry.columns
    assert columns is not None
    rows = []
    for path in paths:
        lines = path.read_text("utf-8").splitlines()
        cells = [line.split(columns.separator) for line in lines if line.strip()]
        rows += cells[columns.header :]
    if columns.complete:
        rows = [row for row in rows if MISSING not in row]
    data = _filled(np.array([[_number(row[i]) for i in columns.attributes] for row in rows]))
    if columns.label is None:
        return Raw(data, None)
    return Raw(data, [row[columns.label] for row in rows])


def _number(cell: str) -> float:
    return np.nan if cell == MISSING else float(cell)


def _filled(data: Floats) -> Floats:
    """The data with the median of its column in each cell that is nan."""
    return np.where(np.isnan(data), np.nanmedian(data, axis=0), data)
