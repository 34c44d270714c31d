"""Data sets by name, prepared as the paper prepares them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrnn.datasets.dataset import DataSet, find
from lrnn.datasets.fetch import located, obtain
from lrnn.datasets.formats import FORMATS, Raw
from lrnn.tables.scaling import Scaling

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load(name: str, *, split: str | None = None, scaled: bool = True) -> "Bunch":
    """Load a data set.

    Its files come from the folder that the environment variable LRNN_DATA_DIR names. If that is
    not set, they are downloaded once into a cache folder. Either way their SHA-256 is checked.
    digits, iris and wine need no files.

    Parameters
    ----------
    name : str
        One of ``lrnn.datasets.DATA_SETS``.
    split : {"train", "test", "all"}, optional
        Which rows, where a data set comes in parts. By default those that the paper trains on:
        "train" of mnist and soybean, "all" of cifar10.
    scaled : bool, default=True
        Whether the numbers are brought into [0, 1]: levels of images by the level that is white,
        all others column by column from their range (of "train", if they are those of "test").
        A constant column becomes 0. Otherwise numbers are as published, images as uint8.

    Returns
    -------
    Bunch
        ``data``; ``target``, numbers of classes from 0, or None; ``target_names``;
        ``feature_names``; ``image_shape`` or None, rows being images after
        ``data.reshape(-1, *image_shape)``; ``source``, where the numbers are from; ``notes``,
        what is not as in the paper. Missing cells are filled with the median of their column.

    Examples
    --------
    >>> from lrnn.datasets import load
    >>> digits = load("digits")
    >>> digits.data.shape, float(digits.data.max()), digits.image_shape
    ((1797, 64), 1.0, (8, 8))
    """
    from sklearn.utils import Bunch

    entry = find(name)
    split = entry.default_split if split is None else split
    if split not in entry.splits:
        raise ValueError(
            f"{name!r} has no split {split!r}; it has {' and '.join(map(repr, entry.splits))}"
        )
    raw, source = _read(entry, split)
    codes = {label: code for code, label in enumerate(entry.class_names)}
    return Bunch(
        data=_scaled(entry, split, raw.data) if scaled else raw.data,
        target=None if raw.labels is None else np.array([codes[str(n)] for n in raw.labels]),
        target_names=list(entry.class_names),
        feature_names=entry.feature_names,
        image_shape=entry.image_shape,
        source=source,
        notes=entry.notes,
    )


def _read(entry: DataSet, split: str) -> tuple[Raw, str]:
    """The rows of a split, and where they are from."""
    parts = entry.parts if split == "all" else (split,)
    files = [file for file in entry.files if file.members or file.part in parts]
    if entry.embedded and not (files and all(map(located, files))):
        return _embedded(entry)
    raw = FORMATS[entry.format](entry, [obtain(file) for file in files], parts)
    return raw, ", ".join(file.address for file in files)


def _embedded(entry: DataSet) -> tuple[Raw, str]:
    """scikit-learn's copy, with the cells in which it differs from the files set to theirs.

    So the numbers are the same with and without a download.
    """
    from sklearn import datasets

    loader, corrections = entry.embedded["loader"], entry.embedded.get("corrections", ())
    found = getattr(datasets, loader)()
    for row, column, value in corrections:
        found.data[row, column] = value
    right = f", with {len(corrections)} cells set right" if corrections else ""
    labels = [entry.class_names[code] for code in found.target]
    return Raw(found.data, labels), f"scikit-learn's copy (sklearn.datasets.{loader}){right}"


def _scaled(entry: DataSet, split: str, data: NDArray[Any]) -> NDArray[Any]:
    """Numbers in [0, 1]; levels of 8 bits become float32, which is ample for them."""
    if entry.white is not None:
        return data / np.float32(entry.white)
    seen = data if split != "test" else _read(entry, "train")[0].data
    scaled: NDArray[Any] = Scaling.fit(seen, "minmax").apply(data)
    return scaled
