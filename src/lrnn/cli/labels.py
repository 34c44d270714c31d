"""The class of each row, as files and data sets tell it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW = 20  # different numbers that are not whole, and yet classes
FEWEST = 10  # classes, above which there must be two rows of each, on average
SHOWN = 3  # rows that are named


def without_class(cells: Sequence[Any] | NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have no label."""
    from lrnn.tables.frame import is_missing

    found = np.asarray(cells, dtype=object if isinstance(cells, tuple | list) else None)
    return is_missing(found)


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Complain of labels, told of in ``where``, that are no classes; or beware of them."""
    from lrnn.tables.messages import warn

    values = np.unique(labels)
    count, example = len(values), str(labels[0])
    if count == 1:
        raise ValueError(
            f"{where} holds no class but {example!r} ({len(labels):,} times): there is nothing to "
            "tell apart; name another column with --label, or give rows of several classes"
        )
    if count > FEW and _are_fractions(values):
        raise ValueError(
            f"{where} holds {count:,} different numbers, such as {example}: a quantity, and no "
            "classes; name another column with --label, or put its values into few classes before"
        )
    if count > max(FEWEST, len(labels) / 2) or count == len(labels):
        raise ValueError(
            f"{where} holds {count:,} different labels for {len(labels):,} rows, such as "
            f"{example!r}: too many to learn of each; name a column of classes with --label, or "
            "give more rows of each class"
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


def tell_unlabelled(
    lacking: NDArray[np.bool_], dropped: NDArray[np.intp], source: str, what: str = ""
) -> None:
    """Warn of rows without a label, that are left out (of ``what``, if not of all).

    ``dropped`` are those of the file that are not among them.
    """
    from lrnn.tables.messages import warn

    count, total = int(np.count_nonzero(lacking)), len(lacking)
    if count:
        one, rows = count == 1, rows_told(_in_file(lacking, dropped))
        warn(
            f"{source!r}: {count:,} of {total:,} rows {'has' if one else 'have'} no label, and "
            f"{'is' if one else 'are'} left out{what and f' of {what}'}: {rows}"
        )


def numbered(
    cells: Sequence[Any],
    classes: NDArray[Any],
    dropped: NDArray[np.intp],
    source: str,
    remedy: str = "",
) -> NDArray[np.intp]:
    """Which of a model's classes labels are, as `class_numbers` tells it.

    Warns of labels that are no class of the model, and complains if all are such; ``dropped`` are
    rows of the file that are not among them.
    """
    from lrnn.tables.frame import as_text
    from lrnn.tables.labels import UNKNOWN, UNLABELLED, class_names, class_numbers
    from lrnn.tables.messages import warn

    found = class_numbers(cells, classes)
    unknown, labelled = found == UNKNOWN, int(np.count_nonzero(found != UNLABELLED))
    if count := int(np.count_nonzero(unknown)):
        label, row = as_text(cells[int(unknown.argmax())]), _in_file(unknown, dropped)[0] + 1
        first = f"such as {label!r} in row {row:,}"
        if count == labelled:
            raise ValueError(
                f"{source!r}: none of the labels, {first}, is a class of the model, which are "
                f"{listed(class_names(classes), 5)}{remedy}"
            )
        warn(
            f"{source!r}: {count:,} of {labelled:,} rows {'has' if count == 1 else 'have'} a label "
            f"that is no class of the model, {first}: "
            f"{'it counts' if count == 1 else 'they count'} as wrong"
        )
    return found


def _in_file(chosen: NDArray[np.bool_], dropped: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers, from 0, of chosen rows in their file, some rows of which were dropped."""
    numbers = np.delete(np.arange(len(chosen) + len(dropped)), dropped)
    return np.asarray(numbers[chosen])


def rows_told(numbers: NDArray[np.intp]) -> str:
    """The first of some rows, whose numbers are counted from 0."""
    more = ", …" if len(numbers) > SHOWN else ""
    return ", ".join(f"{number + 1:,}" for number in numbers[:SHOWN]) + more


def listed(texts: Sequence[str], most: int = SHOWN) -> str:
    """The first of some texts."""
    return ", ".join(map(repr, texts[:most])) + (" …" if len(texts) > most else "")
