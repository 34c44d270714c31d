"""Why rows are strange: attribute by attribute, in the units of the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Floats
from lrnn.notebook import table

__all__ = ["Explanation"]

SHOWN = 3  # attributes of a row
ROWS_SHOWN = 10
MENTIONED = 0.1  # share of a word among those that are expected
HEADER = ("row", "strangeness", "p-value", "attribute", "is", "expected", "share")


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why rows are strange, or are not.

    Attributes
    ----------
    names : tuple of str
        Of the attributes; those that stand for values of one column of text are one.
    rows : ndarray of int
        The numbers of the rows, from 0.
    strangeness : ndarray of shape (n_rows,)
        About 1 for a usual row, as it was held out in training: minus ``score_samples``.
    p_values : ndarray of shape (n_rows,)
        Of how large a share of normal rows are as strange, at least.
    outliers : ndarray of bool
        Whether ``predict`` calls them so.
    contributions : ndarray of shape (n_rows, n_attributes)
        How much of its strangeness each attribute of a row makes: they sum to it.
    values, expected : list of ndarray
        For each attribute, what it is in these rows, and what was expected, given all others. Of
        a column of text that is a word, or several with their shares, where rows that are alike
        otherwise differ in it: then none of them would be quite usual.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import LRNNOutlierDetector
    >>> X = np.random.default_rng(0).random((200, 1)) * [1.0, 2.0, 3.0]
    >>> model = LRNNOutlierDetector(random_state=0).fit(X)
    >>> model.explain([[0.5, 1.0, 9.0]]).strongest(0)[0]
    2
    """

    names: tuple[str, ...]
    rows: NDArray[np.intp]
    strangeness: Floats
    p_values: Floats
    outliers: NDArray[np.bool_]
    contributions: Floats
    values: list[NDArray[Any]]
    expected: list[NDArray[Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def strongest(self, row: int, count: int = SHOWN) -> list[int]:
        """The attributes that make a row strange, the strongest first.

        Parameters
        ----------
        row : int
            Which of these rows, from 0.
        count : int, default=3
            How many attributes, at most.

        Returns
        -------
        attributes : list of int
            Their numbers, from 0.
        """
        order = np.argsort(-self.contributions[row], kind="stable")
        return [int(i) for i in order[:count]]

    def share(self, row: int, attribute: int) -> float:
        """The share of a row's strangeness that an attribute makes.

        Parameters
        ----------
        row, attribute : int
            From 0.

        Returns
        -------
        share : float
            From 0 to 1.
        """
        total = float(self.contributions[row].sum())
        return float(self.contributions[row, attribute]) / total if total > 0 else 0.0

    def sentence(self, row: int, count: int = SHOWN) -> str:
        """Why a row is strange, in words.

        Parameters
        ----------
        row : int
            Which of these rows, from 0.
        count : int, default=3
            How many attributes are named, at most.

        Returns
        -------
        text : str
            Such as "flow is 9 (expected 2.1, 80 %)".
        """
        return "; ".join(
            f"{self.names[i]} is {told(self.values[i][row])} (expected "
            f"{told(self.expected[i][row])}, {100 * self.share(row, i):.0f} %)"
            for i in self.strongest(row, count)
        )

    def lines(self, rows: Sequence[int] | None = None) -> list[list[str]]:
        """A table of the strongest attributes of rows; see `HEADER`.

        Parameters
        ----------
        rows : sequence of int, optional
            Which of these rows, from 0; by default the strangest ten.

        Returns
        -------
        lines : list of list of str
            One for each attribute that is named.
        """
        if rows is None:
            rows = [int(i) for i in np.argsort(-self.strangeness, kind="stable")[:ROWS_SHOWN]]
        found = []
        for row in rows:
            for place, i in enumerate(self.strongest(row)):
                verdict = [
                    f"{self.rows[row] + 1}",
                    f"{self.strangeness[row]:.3g}",
                    f"{self.p_values[row]:.2g}",
                ]
                found.append(
                    [
                        *(verdict if place == 0 else ["", "", ""]),
                        self.names[i],
                        told(self.values[i][row]),
                        told(self.expected[i][row]),
                        f"{100 * self.share(row, i):.0f} %",
                    ]
                )
        return found

    def __str__(self) -> str:
        cells = [list(HEADER), *self.lines()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        )

    def __repr__(self) -> str:
        count = int(np.count_nonzero(self.outliers))
        return f"Explanation({len(self)} rows, {count} of them outliers)"

    def _repr_html_(self) -> str:
        more = len(self) - ROWS_SHOWN
        return table(
            repr(self), HEADER, self.lines(), [f"and {more} more rows"] if more > 0 else []
        )


def worded(shares: Floats, words: Sequence[str]) -> NDArray[Any]:
    """What is expected of a column of text: a word, or several where rows alike differ in it.

    >>> worded(np.array([[0.98, 0.03, 0.0], [0.5, 0.3, 0.2]]), ("red", "green", "blue"))
    array(['red', 'red 50 %, green 30 %, blue 20 %'], dtype=object)
    """
    shares = np.clip(shares, 0, None)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    known: NDArray[Any] = np.array([str(word) for word in words], dtype=object)
    found: NDArray[Any] = known[shares.argmax(axis=1)]
    for row in np.flatnonzero((shares >= MENTIONED).sum(axis=1) > 1):
        each = shares[row]
        order = [i for i in np.argsort(-each, kind="stable") if each[i] >= MENTIONED]
        found[row] = ", ".join(f"{words[i]} {100 * each[i]:.0f} %" for i in order)
    return found


def told(value: Any) -> str:
    """A value of a cell, for a person."""
    if isinstance(value, str):
        return value
    number = float(value)
    return "missing" if np.isnan(number) else f"{number:.4g}"
