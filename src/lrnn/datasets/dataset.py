"""What is known of a data set: its files, its columns, its counts, and what the paper says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Member:
    """A file inside an archive."""

    name: str
    size: int
    sha256: str
    part: str


@dataclass(frozen=True)
class File:
    """A published file.

    Attributes
    ----------
    path : str
        Where it lies inside the data folder: ``<data set>/<file>``.
    size, sha256 : int, str
        Its length in bytes, and its checksum.
    address : str
        Where it is published.
    part : str
        "train" or "test", if the data set comes in these parts.
    members : tuple of Member
        What an archive holds. Their checksums count if it is packed in another way.
    repacked : str
        The path of such an archive, which is used if it is there.
    """

    path: str
    size: int
    sha256: str
    address: str
    part: str = "all"
    members: tuple[Member, ...] = ()
    repacked: str = ""

    @property
    def owner(self) -> str:
        """The name of the data set."""
        return self.path.split("/")[0]


@dataclass(frozen=True)
class DataSet:
    """One data set of the registry.

    Attributes
    ----------
    rows, attributes : int
        The shape of ``load(name).data``.
    class_names : tuple of str
        The classes as the files write them; none if rows have no class.
    files : tuple of File
        Its files as published.
    format : str
        How they are read: a key of ``FORMATS`` in `lrnn.datasets.formats`.
    columns : dict
        Of text files: where the attributes and the class stand.
    embedded : dict
        The loader of scikit-learn's copy, and the cells in which that differs from the files.
    names : tuple of str
        Names of the attributes, if they have any.
    white : float or None
        The level that stands for 1 in images. Without, each column's range is scaled to [0, 1].
    default_split : str
        The rows that the paper trains on.
    paper_rows : int or None
        The paper's count of rows, where it differs.
    errors : dict
        The lowest errors that the paper reports, by widths of hidden layers such as "50".
    """

    name: str
    title: str
    rows: int
    attributes: int
    class_names: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    format: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict, hash=False)
    embedded: Mapping[str, Any] = field(default_factory=dict, hash=False)
    names: tuple[str, ...] = ()
    image_shape: tuple[int, ...] | None = None
    white: float | None = None
    default_split: str = "all"
    paper_rows: int | None = None
    errors: Mapping[str, float] = field(default_factory=dict, hash=False)
    remarks: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """What the data set is published in: ("train", "test") or ("all",)."""
        parts = [piece.part for file in self.files for piece in file.members or (file,)]
        return tuple(dict.fromkeys(parts)) or ("all",)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that `load` knows: the parts, and all of them."""
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


@cache
def data_sets() -> dict[str, DataSet]:
    """All data sets by name: the paper's 19, and scikit-learn's digits."""
    import tomllib
    from importlib.resources import files

    text = files("lrnn.datasets").joinpath("datasets.toml").read_text("utf-8")
    return {name: _data_set(name, facts) for name, facts in tomllib.loads(text).items()}


def _data_set(name: str, facts: dict[str, Any]) -> DataSet:
    """A data set as datasets.toml describes it."""
    if isinstance(facts.get("names"), str):
        facts["names"] = [f"{facts['names']}{i + 1}" for i in range(facts["attributes"])]
    facts["files"] = [_file(**file) for file in facts.get("files", ())]
    lists = {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
    return DataSet(name, **{**facts, **lists})


def _file(members: Sequence[dict[str, Any]] = (), **facts: Any) -> File:
    return File(members=tuple(Member(**member) for member in members), **facts)


def find(name: str) -> DataSet:
    """The data set of that name.

    Parameters
    ----------
    name : str
        Such as "mnist"; ``lrnn data list`` has them all.

    Returns
    -------
    found : DataSet
        What is known of it.

    Examples
    --------
    >>> find("mnits")
    Traceback (most recent call last):
    ...
    ValueError: there is no data set 'mnits'; did you mean 'mnist'? Known are mnist, yale, ...
    """
    if name not in data_sets():
        raise ValueError(unknown(name))
    return data_sets()[name]


def unknown(name: str) -> str:
    """What to say of a name that no data set has."""
    alike = get_close_matches(str(name).lower().replace("-", "_"), data_sets(), n=1)
    meant = f"did you mean {alike[0]!r}? " if alike else ""
    return f"there is no data set {name!r}; {meant}Known are {', '.join(data_sets())}"
