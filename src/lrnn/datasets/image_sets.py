"""The image sets: MNIST, Yale, CIFAR-10, and the digits that scikit-learn brings along.

Their files are read as their authors pack them: rows of levels from 0 to 255.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from lrnn.datasets.dataset import DataSet, Embedded, File, Member, Raw
from lrnn.datasets.fetch import read_members
from lrnn.tables.read import read_idx

MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
DIGITS = tuple("0123456789")
CIFAR_CLASSES = "airplane, automobile, bird, cat, deer, dog, frog, horse, ship, truck"


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


def _mnist(name: str, part: str, sha256: str, size: int) -> File:
    return File(f"mnist/{name}", sha256, size, f"{MNIST}/{name}", part)


_CIFAR_BATCHES = {
    "data_batch_1": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}

IMAGE_SETS = (
    DataSet(
        "mnist",
        "MNIST handwritten digits",
        rows=60_000,
        attributes=784,
        class_names=DIGITS,
        files=(
            _mnist(
                "train-images-idx3-ubyte.gz",
                "train",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                9_912_422,
            ),
            _mnist(
                "train-labels-idx1-ubyte.gz",
                "train",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                28_881,
            ),
            _mnist(
                "t10k-images-idx3-ubyte.gz",
                "test",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                1_648_877,
            ),
            _mnist(
                "t10k-labels-idx1-ubyte.gz",
                "test",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                4_542,
            ),
        ),
        read=read_mnist,
        image_shape=(28, 28),
        white=255,
        default_split="train",
    ),
    DataSet(
        "yale",
        "Yale faces",
        rows=165,
        attributes=1024,
        class_names=tuple(str(person) for person in range(1, 16)),
        files=(
            File(
                "yale/Yale_32x32.mat",
                "beb3cc9f448c1ab786583c8f5429368c299843ee88263f9650ed463004ef7633",
                161_026,
                "http://www.cad.zju.edu.cn/home/dengcai/Data/Yale/Yale_32x32.mat",
            ),
        ),
        read=read_yale,
        image_shape=(32, 32),
        white=255,
    ),
    DataSet(
        "cifar10",
        "CIFAR-10 colour images",
        rows=60_000,
        attributes=3072,
        class_names=tuple(CIFAR_CLASSES.split(", ")),
        files=(
            File(
                "cifar10/cifar-10-binary.tar.gz",
                "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                170_052_171,
                "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                members=tuple(
                    Member(
                        f"cifar-10-batches-bin/{name}.bin",
                        sha256,
                        10_000 * (1 + 3072),  # a label and three colour planes for each image
                        "test" if name == "test_batch" else "train",
                    )
                    for name, sha256 in _CIFAR_BATCHES.items()
                ),
                repacked=("cifar10/cifar-10-binary.tar.xz",),
            ),
        ),
        read=read_cifar,
        image_shape=(32, 32, 3),
        white=255,
        remarks="The paper trains on the 50,000 training and the 10,000 test images together.",
    ),
    DataSet(
        "digits",
        "scikit-learn's handwritten digits",
        rows=1797,
        attributes=64,
        class_names=DIGITS,
        embedded=Embedded("load_digits"),
        image_shape=(8, 8),
        white=16,
        remarks="Not in the paper.",
    ),
)
