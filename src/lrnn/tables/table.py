"""Data as rows of attributes, as they come from a file."""

from collections import deque
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.ledger import Ledger
from lrnn.tables.sources import Source, check_memory, lacking_memory

__all__ = ["Along", "Table", "table_of", "whole"]


@dataclass(frozen=True)
class Table:
    """Data as rows of attributes, with what is known of them; estimators take it as X.

    Attributes
    ----------
    data : ndarray or csr_array of shape (n_rows, n_attributes), Source or Columns
        The numbers, of the type that the file has; or where they, or columns of any kind, can be
        read block by block.
    names : tuple of str or None
        The attributes' names.
    image_shape : tuple of int or None
        Height and width (and channels), if rows are images.
    labels : tuple of str or None
        The class of each row, if the file tells it; None where it has none.
    white : float or None
        The level that is 1, if that is known.
    source : str
        What messages call it.
    label, index : str or None
        Columns that are no attributes, but go along with the rows, where others are meant than the
        scaling of a model remembers.
    recipe : Recipe or None
        What becomes of its columns, for a model that does not remember it.
    ledger : Ledger or None
        What happens to the data when a model takes them, for those who want to know.
    """

    data: Any
    names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None
    labels: tuple[str | None, ...] | None = None
    white: float | None = None
    source: str = "X"
    label: str | None = None
    index: str | None = None
    recipe: Any = None
    ledger: Ledger | None = None


@dataclass(frozen=True)
class Along:
    """What goes along with rows.

    Attributes
    ----------
    names : tuple of str or None
        Of the attributes.
    image_shape : tuple of int or None
        Height and width (and channels), if rows are images.
    label, index : str or None
        Columns of classes and of the rows' names, as far as the data have them.
    carried : deque
        Their cells, block by block, of the rows that have been read.
    labels : tuple of str or None
        The class of each row, where the data tell it without a column; None where it has none.
    recipe : Recipe or None
        What became of the columns of the table.
    """

    names: tuple[str, ...] | None = None
    image_shape: tuple[int, ...] | None = None
    label: str | None = None
    index: str | None = None
    carried: deque[list[tuple[str, NDArray[Any]]]] = field(default_factory=deque)
    labels: tuple[str | None, ...] | None = None
    recipe: Any = None

    def columns(self) -> dict[str, NDArray[Any]]:
        """Label and index of rows in memory, all of them."""
        blocks = [dict(block) for block in self.carried]
        names = blocks[0] if blocks else ()
        return {name: np.concatenate([block[name] for block in blocks]) for name in names}

    @property
    def classes(self) -> Any:
        """The class of each row, if there is one."""
        return self.labels if self.label is None else self.columns()[self.label]


def table_of(array: Any, where: str) -> Table:
    """An array of numbers as a table; axes beyond the second are those of images."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {array.dtype}, not numbers")
    if array.dtype.kind == "b":
        array = array.astype(np.float64)  # 0 and 1; 8 bits would be levels
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"{where} holds no rows of numbers; its shape is {array.shape}")
    if array.ndim == 1:
        raise ValueError(
            f"{where} holds a vector of {len(array):,} numbers, not rows × attributes; store it "
            "as one row, x.reshape(1, -1), or as one column, x.reshape(-1, 1)"
        )
    if array.ndim == 2:
        return Table(array)
    return Table(array.reshape(len(array), -1), image_shape=array.shape[1:])


def whole(source: Source) -> Table:
    """All rows of a source."""
    needed = prod(source.shape) * source.dtype.itemsize
    check_memory(source.name, needed)
    try:
        blocks = list(source.blocks(0, source.shape[0]))
        data = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    except MemoryError as error:
        raise lacking_memory(source.name, error, needed) from None
    data = table_of(data, f"{source.name!r}").data
    return Table(data, source.columns, source.image_shape)
