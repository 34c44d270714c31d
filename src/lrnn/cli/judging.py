"""Rows as an outlier detector judges them: read, scored and explained, some at a time."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray

from lrnn.analysis.explanations import Explanation
from lrnn.arrays import Floats
from lrnn.cli.inputs import Given, check_rows, given_for, load_model
from lrnn.cli.voice import Voice
from lrnn.tables.frame import Columns, Frame

REASONS = 3  # attributes that are told of each row
STRANGEST = 24  # rows that are explained in full
AT_ONCE = 1 << 22  # numbers that are formed of some rows


@dataclass(frozen=True, eq=False)
class Reasons:
    """The attributes that make rows strange, the strongest first.

    Attributes
    ----------
    names : ndarray of str, of shape (n_rows, n_reasons)
        What they are called.
    values, expected : ndarray of object, of shape (n_rows, n_reasons)
        What they are, and what was expected: numbers or text.
    shares : ndarray of shape (n_rows, n_reasons)
        Of the strangeness.
    """

    names: NDArray[Any]
    values: NDArray[Any]
    expected: NDArray[Any]
    shares: Floats

    @classmethod
    def of(cls, found: Explanation) -> "Reasons":
        """Those of explained rows."""
        most = min(REASONS, len(found.names))
        order = np.argsort(-found.contributions, axis=1, kind="stable")[:, :most]
        total = found.contributions.sum(axis=1, keepdims=True)
        parts = np.take_along_axis(found.contributions, order, axis=1)
        shares = np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)
        values, expected = (np.empty(order.shape, dtype=object) for _ in range(2))
        for i in np.unique(order):
            rows, places = np.nonzero(order == i)
            values[rows, places] = found.values[i][rows]
            expected[rows, places] = found.expected[i][rows]
        return cls(np.array(found.names, dtype=object)[order], values, expected, shares)

    def columns(self) -> dict[str, Any]:
        """As columns of a table; of numbers, where none of them is text."""
        found: dict[str, Any] = {}
        for i in range(self.shares.shape[1]):
            found[f"attribute {i + 1}"] = self.names[:, i]
            found[f"value {i + 1}"] = _cells(self.values[:, i])
            found[f"expected {i + 1}"] = _cells(self.expected[:, i])
            found[f"share {i + 1}"] = self.shares[:, i]
        return found


@dataclass(frozen=True, eq=False)
class Judged:
    """What a detector says of all rows of some data.

    Attributes
    ----------
    given : Given
        The rows, in [0, 1], with what goes along.
    scores, p_values : ndarray of shape (n_rows,)
        As the model tells them.
    outliers : ndarray of bool
        Whether it calls them so.
    reasons : Reasons
        Why.
    strangest : Explanation
        Of the strangest rows, the strangest first; they are numbered as in the file.
    places : ndarray of int
        Which of all rows these are, from 0.
    """

    given: Given
    scores: Floats
    p_values: Floats
    outliers: NDArray[np.bool_]
    reasons: Reasons
    strangest: Explanation
    places: NDArray[np.intp]

    @property
    def rows(self) -> NDArray[np.intp]:
        """Numbers of the rows in their file, from 1."""
        dropped = self.given.ledger.dropped
        return np.delete(np.arange(1, len(self.scores) + len(dropped) + 1), dropped)

    @property
    def index(self) -> tuple[str, NDArray[Any]] | None:
        """The column that names the rows, if there is one."""
        return self.given.index

    @property
    def names(self) -> list[str] | None:
        """What the strangest rows are called by it."""
        from lrnn.tables.frame import as_text

        if self.index is None:
            return None
        cells = self.index[1][self.places]
        return ["" if cell is None else as_text(cell) for cell in cells]


class Part(Columns):
    """Some rows of a table."""

    def __init__(self, table: Columns, frame: Frame) -> None:
        self.name, self.columns, self.named = table.name, table.columns, table.named
        self.beside, self.rows = table.beside, frame.shape[0]
        self._frame = Frame(frame.names, frame.columns)

    def frames(self, text: Sequence[str] = (), first: int = 0) -> Iterator[Frame]:
        """All of them at once."""
        yield self._frame[first:] if first else self._frame


def detector_file(context: typer.Context, path: Path | None) -> Path | None:
    """What is named as a detector, before anything else is asked of it; a folder is none."""
    if path is not None and path.is_dir() and not context.resilient_parsing:
        raise IsADirectoryError(
            f"{str(path)!r} is a folder, not a model; give the .safetensors file that lrnn detect "
            "--save has written"
        )
    return path


def detector_in(path: Path) -> Any:
    """The outlier detector in a file; complains of any other model."""
    from lrnn.cli.inputs import is_detector

    found = load_model(path, autoencoder=False, detector=True)
    if not is_detector(found):
        raise ValueError(
            f"{str(path)!r} is no outlier detector; lrnn detect DATA --save {path.stem}-detector"
            ".safetensors trains one on DATA, and keeps it"
        )
    return found


def held_out_rows(model: Any) -> int:
    """By how many rows, that were held out, a detector measures others."""
    return round(float(model.held_out_weights_.sum()))


def judge(
    model: Any,
    source: str,
    voice: Voice,
    *,
    split: str | None = None,
    label: str | None = None,
    index: str | None = None,
) -> Judged:
    """What a detector says of data, which are read as it remembers.

    ``label`` and ``index`` are columns that go along, where others are meant than it remembers.
    """
    from lrnn.estimators.detector import UnknownRowsWarning
    from lrnn.tables.ledger import RangeWarning

    check_rows(source)
    given = given_for(model, source, voice, split, label=label, index=index)
    if not given.rows.shape[0]:
        raise ValueError(f"{source!r}: no row is left that could be judged")
    typical = model.typical_counts_
    width = max(model.n_features_in_, 0 if typical is None else len(typical))
    found: list[tuple[Explanation, Reasons, NDArray[np.intp]]] = []
    first = 0
    with voice.working(f"judging {source}"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)  # all of them are counted in ``given``
        warnings.simplefilter("ignore", UnknownRowsWarning)
        for part in _parts(given, max(1, AT_ONCE // width)):
            each = model.explain(part)
            order = np.argsort(-each.strangeness, kind="stable")[:STRANGEST]
            found.append((_short(each, order), Reasons.of(each), first + order))
            first += len(each)
    return _together(found, given)


def _short(found: Explanation, order: NDArray[np.intp]) -> Explanation:
    """All of an explanation of some rows, and of the others what are single numbers."""
    return replace(
        found,
        contributions=found.contributions[order],
        values=[column[order] for column in found.values],
        expected=[column[order] for column in found.expected],
    )


def _together(found: Sequence[tuple[Explanation, Reasons, NDArray[Any]]], given: Given) -> Judged:
    """What was found of some rows after the other."""
    parts, reasons = [part for part, _, _ in found], [each for _, each, _ in found]
    strangeness, p_values, outliers, contributions = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("strangeness", "p_values", "outliers", "contributions")
    )
    kept = np.concatenate([places for _, _, places in found])
    order = np.argsort(-strangeness[kept], kind="stable")[:STRANGEST]
    places = kept[order]
    dropped = given.ledger.dropped
    numbers = np.delete(np.arange(len(strangeness) + len(dropped)), dropped)
    values, expected = (
        [np.concatenate(columns)[order] for columns in zip(*each, strict=True)]
        for each in ([part.values for part in parts], [part.expected for part in parts])
    )
    strangest = Explanation(
        parts[0].names, numbers[places], strangeness[places], p_values[places], outliers[places],
        contributions[order], values, expected,
    )  # fmt: skip
    told = Reasons(
        *(
            np.concatenate([getattr(each, name) for each in reasons])
            for name in ("names", "values", "expected", "shares")
        )
    )
    return Judged(given, -strangeness, p_values, outliers, told, strangest, places)


def _parts(given: Given, height: int) -> Iterator[Any]:
    """The table of the rows, as many of them at a time; without those that are left out."""
    from lrnn.tables.ledger import Ledger
    from lrnn.tables.sources import Source

    table, recipe = given.table, given.rows.along.recipe
    data = table.data
    if recipe is not None:
        columns = replace(given.scaling, recipe=recipe).columns_of(data, table.names)[0]
        known = (*columns.columns, *columns.beside)
        found = recipe.found_in(known, columns.named, repr(table.source))
        for frame in columns.frames([name for name in found.as_text if name in known]):
            kept = found.kept(frame)
            for start in range(0, kept.shape[0], height):
                part = Part(columns, kept[start : start + height])
                yield replace(table, data=part, recipe=recipe, labels=None, ledger=Ledger())
        return
    blocks = (
        data.blocks(0, height)
        if isinstance(data, Source)
        else (data[start : start + height] for start in range(0, data.shape[0], height))
    )
    for block in blocks:
        yield replace(table, data=block, labels=None, ledger=Ledger())


def _cells(column: NDArray[Any]) -> NDArray[Any]:
    """A column of numbers, or of text if some of it is."""
    if not any(isinstance(cell, str) for cell in column):
        return column.astype(np.float64)
    missing = [isinstance(cell, float) and np.isnan(cell) for cell in column]
    found = [None if gone else str(cell) for cell, gone in zip(column, missing, strict=True)]
    return np.array(found, dtype=object)
