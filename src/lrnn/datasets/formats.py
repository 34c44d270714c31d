"""How the files of data sets are read: rows of numbers as published, and the class of each row."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lrnn.datasets.dataset import DataSet
from lrnn.datasets.fetch import unpack
from lrnn.tables.read import read_idx

MISSING = "?"  # a cell of a text file


class Raw(NamedTuple):
    """Rows of numbers as published, and the class of each row if there is one."""

    data: NDArray[Any]
    labels: Sequence[Any] | NDArray[Any] | None


def read_text(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """Lines of text; missing cells get the median of their column, or their rows are left out."""
    columns = entry.columns
    separator = None if columns.get("separator") == "blanks" else ","
    rows = []
    for path in paths:
        lines = path.read_text("utf-8").splitlines()
        cells = [line.split(separator) for line in lines if line.strip()]
        rows += cells[columns.get("header", False) :]
    if columns.get("complete"):
        rows = [row for row in rows if MISSING not in row]
    wanted = [i for first, last in columns["attributes"] for i in range(first, last + 1)]
    data = np.array([[_number(row[i]) for i in wanted] for row in rows])
    data = np.where(np.isnan(data), np.nanmedian(data, axis=0), data)
    return Raw(data, [row[columns["label"]] for row in rows] if "label" in columns else None)


def _number(cell: str) -> float:
    return np.nan if cell == MISSING else float(cell)


def read_mnist(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """IDX files: images and labels in turn."""
    images = [read_idx(path) for path in paths[::2]]
    labels = [read_idx(path) for path in paths[1::2]]
    return Raw(np.concatenate(images).reshape(-1, entry.attributes), np.concatenate(labels))


def read_yale(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """A MATLAB file; MATLAB stores pictures column by column, so they are transposed."""
    from scipy.io import loadmat

    content = loadmat(paths[0], variable_names=("fea", "gnd"))
    assert entry.image_shape is not None
    pictures = content["fea"].reshape(-1, *entry.image_shape).transpose(0, 2, 1)
    return Raw(pictures.reshape(-1, entry.attributes), content["gnd"].ravel())


def read_cifar(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """An archive of records: a label, and three colour planes, which become pixels."""
    assert entry.image_shape is not None
    height, width, colours = entry.image_shape
    batches = unpack(paths[0], entry.files[0])
    names = [member.name for member in entry.files[0].members if member.part in parts]
    records = np.concatenate([np.frombuffer(batches[name], np.uint8) for name in names])
    del batches  # as large as all records
    records = records.reshape(-1, 1 + entry.attributes)
    planes = records[:, 1:].reshape(-1, colours, height, width)
    pixels = planes.transpose(0, 2, 3, 1).reshape(len(records), -1)
    return Raw(pixels, [entry.class_names[code] for code in records[:, 0]])


FORMATS: Mapping[str, Callable[[DataSet, Sequence[Path], Collection[str]], Raw]] = {
    "text": read_text, "idx": read_mnist, "matlab": read_yale, "cifar": read_cifar,
}  # fmt: skip
"""By the ``format`` of a data set: ``read(entry, paths, parts)`` reads these parts of it."""
