"""What is known of a data set: its files, its columns, its counts, and what the paper says."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray


@dataclass(frozen=True)
class Member:
    """A file inside an archive."""

    name: str
    sha256: str
    size: int
    part: str


@dataclass(frozen=True)
class File:
    """A published file.

    Attributes
    ----------
    path : str
        Where it lies inside the data folder: ``<data set>/<file>``.
    sha256, size : str, int
        Its sum, and its length in bytes.
    address : str
        Where it is published.
    part : str
        "train" or "test", if the data set comes in these parts.
    members : tuple of Member
        What an archive holds. It may then be packed in another way, under one of the names in
        ``repacked``: the members' sums count.
    """

    path: str
    sha256: str
    size: int
    address: str
    part: str = "all"
    members: tuple[Member, ...] = ()
    repacked: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """The name of the data set."""
        return self.path.split("/")[0]


@dataclass(frozen=True)
class Columns:
    """Where the attributes and the class stand in the lines of a text file, counted from 0.

    A separator of None is any white space. Rows with missing cells ("?") are left out if
    ``complete`` is set; otherwise the cells are filled with the median of their column.
    """

    attributes: Sequence[int]
    label: int | None
    separator: str | None = ","
    header: bool = False
    complete: bool = False


@dataclass(frozen=True)
class Embedded:
    """A copy that scikit-learn brings along, and the cells (row, column) where it is mistaken."""

    loader: str
    corrections: tuple[tuple[int, int, float], ...] = ()


class Raw(NamedTuple):
    """Rows of numbers as published, and the class of each row if there is one."""

    data: NDArray[Any]
    labels: Sequence[Any] | NDArray[Any] | None


@dataclass(frozen=True)
class DataSet:
    """One entry of the registry.

    Attributes
    ----------
    rows, attributes : int
        The shape of ``load(name).data``.
    class_names : tuple of str
        The classes as the files write them; none if rows have no class.
    read : callable or None
        ``read(entry, paths, parts)`` gives the rows of these parts, `paths` being their files.
    names : tuple of str
        Names of the attributes, if they have any.
    white : float or None
        The level that stands for 1 in images. Without, each column's range is scaled to [0, 1].
    default_split : str
        The rows that the paper trains on.
    paper_rows : int or None
        What the paper counts, where it counts otherwise.
    """

    name: str
    title: str
    rows: int
    attributes: int
    class_names: tuple[str, ...]
    files: tuple[File, ...] = ()
    read: "Callable[[DataSet, Sequence[Path], Collection[str]], Raw] | None" = None
    columns: Columns | None = None
    embedded: Embedded | None = None
    names: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None
    white: float | None = None
    default_split: str = "all"
    paper_rows: int | None = None
    remarks: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What the data set is published in: ("train", "test") or ("all",)."""
        parts = [piece.part for file in self.files for piece in file.members or (file,)]
        return tuple(dict.fromkeys(parts)) or ("all",)

    @property
    def splits(self) -> tuple[str, ...]:
        """What `load` can be asked for: the parts, and all of them."""
        return tuple(dict.fromkeys((*self.parts, "all")))

    @property
    def size(self) -> int:
        """Bytes to download."""
        return sum(file.size for file in self.files)

    @property
    def feature_names(self) -> list[str]:
        """Names of the attributes; pixels are named by row, column and channel, from 0."""
        if self.names:
            return list(self.names)
        if self.image_shape is None:
            return [f"attribute {i + 1}" for i in range(self.attributes)]
        from numpy import ndindex

        return ["_".join(map(str, ("pixel", *place))) for place in ndindex(*self.image_shape)]

    @property
    def notes(self) -> str:
        """What a reader of the paper should know, in sentences."""
        counted = ""
        if self.paper_rows is not None:
            counted = f"{self.rows} rows, where the paper counts {self.paper_rows}."
        return " ".join(filter(None, (counted, self.remarks)))
