"""The class of each row, as files and data sets tell it."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WHOLE = re.compile(r"(0|-?[1-9]\d{0,17})(?:\.0+)?")
FEW = 20  # different numbers that are not whole, and yet classes
FEWEST = 10  # classes, above which there must be two rows of each, on average
SHOWN = 3  # rows that are named


def without_class(cells: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have no label."""
    from lrnn.tables.frame import is_missing

    found = np.asarray(cells, dtype=object if isinstance(cells, tuple | list) else None)
    return is_missing(found)


def as_labels(cells: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Labels as a classifier learns them: whole numbers, if all are such, or else text.

    >>> as_labels(["3", "10.0"]), as_labels(np.array([3.0, 10.0])), as_labels(["03", "7"])
    (array([ 3, 10]), array([ 3, 10]), array(['03', '7'], dtype='<U2'))
    """
    from lrnn.tables.frame import as_text

    texts = list(map(as_text, cells))
    whole = [found[1] for found in map(WHOLE.fullmatch, texts) if found]
    return np.array(whole, dtype=np.int64) if len(whole) == len(texts) else np.array(texts)


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Complain of labels, told of in ``where``, that are no classes; or beware of them."""
    from lrnn.tables.words import warn

    values = np.unique(labels)
    count, example = len(values), str(labels[0])
    if count == 1:
        raise ValueError(
            f"{where}: all {len(labels):,} rows are of the class {example!r}, and there is nothing "
            "to tell apart; name another column with --label, or give rows of several classes"
        )
    if count > FEW and _are_fractions(values):
        raise ValueError(
            f"{where} holds {count:,} different numbers, such as {example}: a quantity, and no "
            "classes; name another column with --label, or put its values into few classes before"
        )
    if count > max(FEWEST, len(labels) / 2):
        raise ValueError(
            f"{where} holds {count:,} different labels for {len(labels):,} rows, such as "
            f"{example!r}: too many to learn of each; name a column of classes with --label"
        )
    if count > FEW and values.dtype.kind == "i":
        warn(
            f"{where} holds {count:,} different whole numbers from {values[0]} to {values[-1]}; "
            "each is taken for a class of its own"
        )


def _are_fractions(values: NDArray[Any]) -> bool:
    """Whether texts are numbers, and not all of them whole."""
    if values.dtype.kind in "iu":
        return False
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return False
    return not all(number.is_integer() for number in numbers)


def rows_told(numbers: NDArray[np.intp]) -> str:
    """The first of some rows, whose numbers are counted from 0."""
    more = ", …" if len(numbers) > SHOWN else ""
    return ", ".join(f"{number + 1:,}" for number in numbers[:SHOWN]) + more
