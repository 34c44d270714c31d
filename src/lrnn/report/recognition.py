"""What the report of a classifier says besides: how well it recognises, and where it does not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.analysis.frontiers import readable
from lrnn.arrays import Floats
from lrnn.report import pictures
from lrnn.report.content import SHARED, Section, TableOf
from lrnn.report.subject import Subject
from lrnn.tables.labels import UNKNOWN, UNLABELLED

MOST_CLASSES = 20  # of which all confusions are shown; of more only the commonest
CONFUSIONS = 20  # that are listed then
IMAGES = 24  # rows that are shown, if they are images
ROWS = 6  # likewise, if they are of a table
BARS = 4  # classes that are named of a row
OTHER = "(other)"  # classes, that the model has not learnt
QUANTILES = {"a tenth of the rows needs less than": 0.1, "half": 0.5, "nine tenths": 0.9}


def recognised(subject: Subject) -> dict[str, Any]:
    """How many rows of each class are told right, and what the others are taken for."""
    names = [str(label) for label in subject.classifier.classes_.tolist()]
    told = subject.probabilities.argmax(axis=1)
    true = subject.numbers
    strange, lacking = (int(np.count_nonzero(true == n)) for n in (UNKNOWN, UNLABELLED))
    counts = np.zeros((len(names) + 1, len(names)), dtype=np.int64)  # the last: of none of them
    np.add.at(counts, (true[true != UNLABELLED], told[true != UNLABELLED]), 1)
    many = len(names) > MOST_CLASSES
    rows = [*names, *([OTHER] if strange else [])]
    return {
        "labelled": len(true) - lacking,
        "strange": strange,
        "lacking": lacking if lacking < len(true) else 0,
        "classes": _by_class(counts, names),
        "confusions": (_commonest if many else _matrix)(counts[: len(rows)], rows, names),
        "many": many,
    }


def _by_class(counts: NDArray[np.int64], names: Sequence[str]) -> TableOf:
    rows, told, right = counts.sum(axis=1), counts.sum(axis=0), counts.diagonal()

    def share(part: int, whole: int) -> str:
        return f"{100 * part / whole:.1f} %" if whole else "–"

    lines = [
        [name, f"{rows[i]:,}", share(right[i], rows[i]), share(right[i], told[i])]
        for i, name in enumerate(names)
    ]
    return TableOf(
        "Classes: recall is the share of their rows that are told right, precision the share of "
        "those told so that are",
        ["class", "rows", "recall", "precision"],
        lines,
    )


def _matrix(counts: NDArray[np.int64], rows: Sequence[str], names: Sequence[str]) -> TableOf:
    lines = [[name, *(f"{n:,}" if n else "·" for n in counts[i])] for i, name in enumerate(rows)]
    return TableOf("Rows by their class (left) and what they are taken for", ["", *names], lines)


def _commonest(counts: NDArray[np.int64], rows: Sequence[str], names: Sequence[str]) -> TableOf:
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:CONFUSIONS]
    places = [divmod(int(place), len(names)) for place in order]
    lines = [[rows[i], names[j], f"{wrong[i, j]:,}"] for i, j in places if wrong[i, j]]
    return TableOf("The commonest mistakes", ["class", "taken for", "rows"], lines)


def doubtful(subject: Subject) -> dict[str, Any]:
    """Rows that are mistaken, the surest mistakes first; or without any, the least sure rows."""
    numbers, found = subject.numbers, subject.probabilities
    told = found.argmax(axis=1)
    count = IMAGES if subject.image_shape is not None else ROWS
    wrong = np.flatnonzero((numbers >= 0) & (told != numbers))
    if len(wrong):
        own = found[wrong, numbers[wrong]]
        chosen = wrong[np.argsort(own, kind="stable")[:count]]
    else:
        chosen = np.argsort(found.max(axis=1), kind="stable")[:count]
    rows = [_row(subject, int(i)) for i in chosen]
    if subject.image_shape is not None:
        values = subject.cells(chosen)
        ink = pictures.is_ink(values)
        for row, cells in zip(rows, values, strict=True):
            row["image"] = pictures.image(cells, subject.image_shape, ink)
    return {"rows": rows, "mistakes": len(wrong), "shown": len(rows)}


def _row(subject: Subject, i: int) -> dict[str, Any]:
    """What is said of a row: its class, what it is taken for, and the most probable classes."""
    names, each, number = subject.classifier.classes_, subject.probabilities[i], subject.numbers[i]
    told = int(each.argmax())
    order = np.argsort(-each, kind="stable")[:BARS].tolist()
    if number >= 0 and number not in order:
        order[-1] = int(number)
    true = str(names[number]) if number >= 0 else None
    return {
        "number": subject.number_in_file(i),
        "true": true,
        "told": str(names[told]),
        "mistaken": number >= 0 and told != number,
        "probability": f"{each[told]:.2f}",
        "bars": [(str(names[k]), f"{100 * each[k]:.0f}") for k in order],
        "image": None,
    }


def decisions(subject: Subject) -> dict[str, Any]:
    """Firings that an output spike takes, over the rows."""
    logs: Floats = subject.classifier._log_spikes(subject.rows)
    deciding = logs[np.isfinite(logs)]
    silent = len(logs) - len(deciding)
    if not len(deciding):
        return {"mean": "∞", "silent": silent, "table": None}
    lines = [["geometric mean", readable(float(np.exp(deciding.mean())))]]
    lines += [
        [name, readable(float(np.exp(np.quantile(deciding, share))))]
        for name, share in QUANTILES.items()
    ]
    lines += [["the costliest row", readable(float(np.exp(deciding.max())))]]
    return {
        "mean": readable(float(np.exp(deciding.mean()))),
        "silent": silent,
        "table": TableOf("Firings per output spike", ["", "firings"], lines),
    }


SECTIONS: tuple[Section, ...] = (*SHARED, recognised, doubtful, decisions)
"""Sections of the page of a classifier."""
