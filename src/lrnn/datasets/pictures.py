"""The image sets of the paper as their authors pack them: rows of levels from 0 to 255."""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from lrnn.datasets.archive import read_members
from lrnn.datasets.dataset import DataSet, Raw
from lrnn.tables.idx import read_idx


def read_mnist(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """Idx files, images and labels in turn."""
    images = [read_idx(path) for path in paths[::2]]
    labels = [read_idx(path) for path in paths[1::2]]
    return Raw(np.concatenate(images).reshape(-1, entry.attributes), np.concatenate(labels))


def read_yale(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """A MATLAB file; MATLAB stores pictures column by column, so they are turned."""
    from scipy.io import loadmat

    (path,) = paths
    content = loadmat(path, variable_names=("fea", "gnd"))
    assert entry.image_shape is not None
    pictures = content["fea"].reshape(-1, *entry.image_shape).transpose(0, 2, 1)
    return Raw(pictures.reshape(-1, entry.attributes), content["gnd"].ravel())


def read_cifar(entry: DataSet, paths: Sequence[Path], parts: Collection[str]) -> Raw:
    """Records of a label and three colour planes, turned to pixels of three colours."""
    (path,) = paths
    (file,) = entry.files
    assert entry.image_shape is not None
    height, width, colours = entry.image_shape
    found = {}
    for member, content in read_members(path, file, parts):
        records = np.frombuffer(content, np.uint8).reshape(-1, 1 + entry.attributes)
        planes = records[:, 1:].reshape(-1, colours, height, width)
        found[member] = planes.transpose(0, 2, 3, 1).reshape(len(records), -1), records[:, 0].copy()
    pixels, codes = zip(*(found[member] for member in file.members if member in found), strict=True)
    return Raw(np.concatenate(pixels), [entry.class_names[code] for code in np.concatenate(codes)])
