"""Classes of rows as tables write them: one number may be written in many ways."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.tables.frame import as_text

__all__ = [
    "UNKNOWN",
    "UNLABELLED",
    "as_classes",
    "class_names",
    "class_numbers",
    "label_text",
    "number_in",
    "respelled",
    "spelled_twice",
]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
PADDED = re.compile(r"[+-]?0\d.*")  # a code rather than a number: 007
DIGITS = 18  # of the longest whole number
TRUTHS = {"false": 0, "true": 1}
UNKNOWN, UNLABELLED = -1, -2  # numbers of what is no class of a model, and of no label


def number_in(label: Any) -> int | float | None:
    """The number that a label is; None, if it is none.

    >>> number_in("1.000000000000000000e+00"), number_in("01"), number_in(2.5), number_in("x")
    (1, 1, 2.5, None)
    """
    text = as_text(label)
    if not NUMBER.fullmatch(text):
        return None
    if text.lstrip("+-").isdigit():
        return int(text) if len(text.lstrip("+-0")) <= DIGITS else None
    number = float(text)
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 10**DIGITS else number


def label_text(label: Any) -> str:
    """A label as text: numbers in their shortest form, unless zeros stand before them.

    >>> label_text("3.0"), label_text(3), label_text("5e-1"), label_text("03"), label_text("x")
    ('3', '3', '0.5', '03', 'x')
    """
    text = as_text(label)
    number = None if PADDED.fullmatch(text) else number_in(text)
    return text if number is None else str(number)


def as_classes(labels: Iterable[Any]) -> NDArray[Any]:
    """Labels of one column as classes.

    If all of them are numbers, without zeros before them, their values are what counts: whole
    numbers, or else the shortest text of each. If not, they are text as it is written.

    >>> as_classes(["3", "10.0"]), as_classes(["1e+00", "5e-01"]), as_classes(["03", "7"])
    (array([ 3, 10]), array(['1', '0.5'], dtype='<U3'), array(['03', '7'], dtype='<U2'))
    """
    texts = list(map(as_text, labels))
    numbers = [None if PADDED.fullmatch(text) else number_in(text) for text in texts]
    if any(number is None for number in numbers):
        return np.array(texts)
    if all(isinstance(number, int) for number in numbers):
        return np.array(numbers, dtype=np.int64)
    return np.array(list(map(str, numbers)))


def spelled_twice(labels: Iterable[Any]) -> list[str]:
    """The first number that labels write in several ways, in all of these; none, if none is.

    >>> spelled_twice(["1", "2", "1.0", "01"]), spelled_twice(["1.0", "2.0", "1.0"])
    (['1', '1.0', '01'], [])
    """
    found = defaultdict(list)
    for text in dict.fromkeys(map(as_text, labels)):
        if (number := number_in(text)) is not None:
            found[number].append(text)
    return next((texts for texts in found.values() if len(texts) > 1), [])


def _value(label: str) -> int | float | None:
    """The number that a label stands for; truths are 0 and 1."""
    return TRUTHS.get(label.lower(), number_in(label))


def class_names(classes: NDArray[Any]) -> list[str]:
    """Classes of a model as text; those of truths are True and False."""
    truths = classes.dtype.kind == "b"
    return [str(label) if truths else as_text(label) for label in classes.tolist()]


def class_numbers(labels: Iterable[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Which of a model's classes labels are: the one that is written so, or the same number.

    It must be the only one that is.

    >>> class_numbers(["3.0", 4, None, "x", float("nan"), "04"], np.array([3, 4]))
    array([ 0,  1, -2, -1, -2,  1])
    >>> class_numbers(["1", "1.0", "001"], np.array(["01", "1"]))  # 001 may be either
    array([ 1,  1, -1])
    >>> class_numbers(["TRUE", "0"], np.array([False, True]))
    array([1, 0])
    """
    truths = classes.dtype.kind == "b"
    names = class_names(classes)
    written = {name.lower() if truths else name: i for i, name in enumerate(names)}
    equal: dict[Any, int] = {}
    for i, value in enumerate(map(_value, names)):
        equal[value] = UNKNOWN if value is None or value in equal else i

    @cache
    def number_of(text: str) -> int:
        place = written.get(text, written.get(label_text(text)))
        return equal.get(_value(text), UNKNOWN) if place is None else place

    def number(label: Any) -> int:
        if label is None or label != label:
            return UNLABELLED
        return number_of(str(label).lower() if truths else as_text(label))

    return np.array([number(label) for label in labels], dtype=np.intp)


def respelled(
    labels: Iterable[Any], numbers: NDArray[np.intp], classes: NDArray[Any]
) -> NDArray[np.bool_]:
    """Which labels are classes of a model by their value alone: 01 is written otherwise than 1.

    ``numbers`` are those of the classes, as `class_numbers` tells them.

    >>> respelled(["01", "2.0", "2"], np.array([0, 1, 1]), np.array([1, 2]))
    array([ True, False, False])
    """
    truths = classes.dtype.kind == "b"
    texts = [name.lower() if truths else label_text(name) for name in class_names(classes)]

    def other(label: Any, n: int) -> bool:
        return n >= 0 and (str(label).lower() if truths else label_text(label)) != texts[n]

    return np.array([other(*pair) for pair in zip(labels, numbers, strict=True)], dtype=bool)
