"""How a file is to be read, where its name and its content do not tell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["ENDINGS", "Reading"]

ENDINGS = (
    ".npy", ".npz", ".csv", ".tsv", ".parquet", ".mat", ".zarr", ".h5", ".hdf5", ".idx", "-ubyte",
)  # fmt: skip

TAB = ("tab", r"\t")  # what a shell lets through


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; each format takes some of this, and refuses the rest.

    Parameters
    ----------
    delimiter : str or None
        What stands between the cells of a text; by default what occurs most. "tab" is a tab.
    decimal : {".", ","}
        How numbers in a text are written.
    encoding : str
        The encoding of a text.
    header : bool or None
        Whether the first line of a text holds names; by default that is seen from the others.
    na : tuple of str or None
        How missing cells are written, besides empty ones; a number, however it is written.
    key : str or None
        Which array, of a file that holds several; that of a group is "group/array".
    resize : (int, int) or None
        Width and height that images get; "28x28", too, is such.
    grey : bool
        Whether images with colours become grey.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool | None = None
    na: tuple[str, ...] | None = None
    key: str | None = None
    resize: tuple[int, int] | None = None
    grey: bool = False

    def __post_init__(self) -> None:
        if self.delimiter in TAB:
            object.__setattr__(self, "delimiter", "\t")
        size = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", str(self.resize))
        if size is not None:
            object.__setattr__(self, "resize", (int(size[1]), int(size[2])))
        for name in ("na", "resize"):  # lists, as JSON has them
            if isinstance(getattr(self, name), list):
                object.__setattr__(self, name, tuple(getattr(self, name)))
        for name, (right, remedy) in _CHECKS.items():
            value = getattr(self, name)
            if not right(value):
                raise ValueError(f"{name} is {value!r:.100}, but {remedy}")
        if self.delimiter == self.decimal:
            raise ValueError(
                f"delimiter and decimal are both {self.decimal!r}; cells and decimals need "
                "different marks, such as ';' between cells"
            )

    @property
    def given(self) -> tuple[str, ...]:
        """Names of what is not as it is by default."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != f.default)

    def to_json(self) -> dict[str, Any]:
        """As a model file holds it, without what is as it is by default.

        Returns
        -------
        stored : dict
            Text and numbers.
        """
        values = {name: getattr(self, name) for name in self.given}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def from_json(cls, stored: Any) -> "Reading":
        """What `to_json` gave; None is a file that is read as it is by default.

        Parameters
        ----------
        stored : dict or None
            What a model file holds.
        """
        known = [field.name for field in fields(cls)]
        if stored is None:
            return cls()
        if not isinstance(stored, dict):
            raise ValueError(f"how to read a file is {stored!r:.100}, but should be named values")
        for name in stored:
            if name not in known:
                raise ValueError(
                    f"how to read a file has {name!r:.100}, which is not one of {', '.join(known)}"
                )
        return cls(**stored)


def _is_encoding(value: Any) -> bool:
    try:
        "1".encode(value)
    except (LookupError, TypeError, ValueError):
        return False
    return True


def _is_size(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(type(n) is int and 1 <= n <= 65_535 for n in value)
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for text in value)


_CHECKS: dict[str, tuple[Any, str]] = {
    "delimiter": (
        lambda v: v is None or (isinstance(v, str) and len(v) == 1 and v not in '"\r\n\0'),
        "should be one character, such as ';', or tab",
    ),
    "decimal": (lambda v: v in (".", ","), "should be '.' or ','"),
    "encoding": (
        _is_encoding,
        "Python knows no encoding of this name; utf-8, latin-1, cp1252 and utf-16 are some",
    ),
    "header": (lambda v: v in (None, True, False), "should be True or False"),
    "na": (
        lambda v: v is None or _is_texts(v),
        "should be several texts, such as ('NA', '?')",
    ),
    "key": (
        lambda v: v is None or (isinstance(v, str) and v.strip("/ ") != ""),
        "should be the name of an array, such as 'data' or 'group/data'",
    ),
    "resize": (
        lambda v: v is None or _is_size(v),
        "should be a width and a height of 1 to 65,535 pixels, such as 28x28",
    ),
    "grey": (lambda v: isinstance(v, bool), "should be True or False"),
}
