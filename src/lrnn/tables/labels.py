"""Classes of rows as tables write them: a number as text is the same class as the number."""

import re
from collections.abc import Iterable
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.frame import as_text

__all__ = ["UNKNOWN", "UNLABELLED", "as_classes", "class_names", "class_numbers"]

# zeros before other digits are those of a code, such as 007
NUMBER = re.compile(r"[+-]?(?!0\d)(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
DIGITS = 18  # of the longest whole number
UNKNOWN, UNLABELLED = -1, -2  # numbers of what is no class of a model, and of no label


def _number(text: str) -> int | float | None:
    """The number that a text is; None if it is none.

    >>> _number("1.000000000000000000e+00"), _number("2.5"), _number("01"), _number("x")
    (1, 2.5, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+-")
    if digits.isdigit():
        return int(text) if len(digits) <= DIGITS else None
    number = float(text)
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 10**DIGITS else number


def as_classes(labels: Iterable[Any]) -> NDArray[Any]:
    """Labels of one column as classes.

    If all of them are numbers, without zeros before them, their values are what counts: whole
    numbers, or else the shortest text of each. If not, they are text as it is written.

    >>> as_classes(["3", "10.0"]), as_classes(["1e+00", "5e-01"]), as_classes(["03", "7"])
    (array([ 3, 10]), array(['1', '0.5'], dtype='<U3'), array(['03', '7'], dtype='<U2'))
    """
    texts = list(map(as_text, labels))
    numbers = list(map(_number, texts))
    if any(number is None for number in numbers):
        return np.array(texts)
    if all(isinstance(number, int) for number in numbers):
        return np.array(numbers, dtype=np.int64)
    return np.array(list(map(str, numbers)))


def class_names(classes: NDArray[Any]) -> list[str]:
    """Classes of a model as text; those of truths are True and False."""
    truths = classes.dtype.kind == "b"
    return [str(label) if truths else as_text(label) for label in classes.tolist()]


def class_numbers(labels: Iterable[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Which of a model's classes labels are: the one that is written so, or as the shortest number.

    >>> class_numbers(["3.0", 4, None, "x", float("nan"), "04"], np.array([3, 4]))
    array([ 0,  1, -2, -1, -2, -1])
    >>> class_numbers(["TRUE", np.False_], np.array([False, True]))
    array([1, 0])
    """
    truths = classes.dtype.kind == "b"
    names = [name.lower() if truths else name for name in class_names(classes)]
    places = {name: i for i, name in enumerate(names)}

    @cache
    def place(text: str) -> int:
        number = _number(text)
        shortest = text if number is None else str(number)
        return places.get(text, places.get(shortest, UNKNOWN))

    def number_of(label: Any) -> int:
        if label is None or label != label:
            return UNLABELLED
        return place(str(label).lower() if truths else as_text(label))

    return np.array([number_of(label) for label in labels], dtype=np.intp)
