"""Data sets as files: tables with names and labels, arrays, or folders of images."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrnn.datasets.dataset import DataSet, find
from lrnn.datasets.load import load
from lrnn.tables.images import check_image_folder, write_images
from lrnn.tables.writers import WITH_TEXT, check_output, write_arrays, write_blocks

if TYPE_CHECKING:
    from sklearn.utils import Bunch

ROWS = 4_096  # of a block


def write_data_set(
    name: str, path: str | os.PathLike[str], split: str | None = None, force: bool = False
) -> "Bunch":
    """Write a data set as a file or as a folder of images, its numbers as published.

    Tables (.csv, .tsv, .parquet) have names of columns, and a column of labels if there are
    classes; .npz and .mat files hold arrays "data" and "labels"; .npy and .zarr files have no place
    for labels. A name without an ending, or with a "/" at its end, is that of a folder: it gets
    the images as PNG files, by label.

    Parameters
    ----------
    name : str
        One of ``lrnn.datasets.DATA_SETS``.
    path : str or path-like
        The file or folder.
    split : {"train", "test", "all"}, optional
        Which rows; by default those that the paper trains on.
    force : bool, default=False
        Whether what is there under this name is replaced. Folders that hold anything but
        numbered PNG files are never replaced.

    Returns
    -------
    Bunch
        The data set, as `load` gives it unscaled.
    """
    entry = find(name)
    as_folder = os.fspath(path).endswith(("/", os.sep)) or not Path(path).suffix
    path = Path(path)
    if as_folder:
        if entry.image_shape is None:
            raise ValueError(
                f"{name!r} holds no images, which {str(path)!r} would be a folder of; give the "
                f"name of a file, such as {f'{path}.csv'!r}"
            )
        check_image_folder(path)
    else:
        check_output(path)
    if not force and (any(path.iterdir()) if path.is_dir() else path.exists()):
        raise FileExistsError(f"{str(path)!r} is there already; --force replaces it")
    found = load(name, split=split, scaled=False)
    labels = None
    if found.target is not None:
        labels = np.array(found.target_names)[found.target]
    if as_folder:
        write_images(path, _as_images(entry, found.data), labels)
    elif path.suffix.lower() in WITH_TEXT:
        names = entry.feature_names
        if labels is not None:
            names = [*names, "class" if "label" in names else "label"]
        shape = (len(found.data), len(names))
        write_blocks(path, _blocks(found.data, labels), shape, found.data.dtype, names)
    elif path.suffix.lower() == ".zarr":
        write_blocks(path, [found.data], found.data.shape, found.data.dtype)
    else:
        arrays = {"data": found.data.reshape(-1, *(entry.image_shape or (entry.attributes,)))}
        if labels is not None and path.suffix.lower() != ".npy":
            arrays["labels"] = labels
        write_arrays(path, arrays)
    return found


def _blocks(data: NDArray[Any], labels: NDArray[Any] | None) -> Iterator[list[Any]]:
    """Columns of some rows at a time; those of whole numbers are integers."""
    kinds: list[Any] = [data.dtype] * data.shape[1]
    if data.dtype.kind == "f":
        kinds = [data.dtype if (column % 1).any() else np.int64 for column in data.T]
    for first in range(0, len(data), ROWS):
        rows = slice(first, first + ROWS)
        columns: list[Any] = [data[rows, i].astype(kind) for i, kind in enumerate(kinds)]
        yield columns if labels is None else [*columns, labels[rows]]


def _as_images(entry: DataSet, data: NDArray[Any]) -> NDArray[np.uint8]:
    """Levels such that white is 255, as it is in images."""
    assert entry.image_shape is not None
    if data.dtype != np.uint8 or entry.white != 255:
        data = np.rint(data * (255 / float(entry.white or 255))).astype(np.uint8)
    return data.reshape(-1, *entry.image_shape)
