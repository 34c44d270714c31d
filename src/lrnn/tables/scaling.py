"""Data into [0, 1] and back into their own units, in a way that a model file can remember."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from lrnn.arrays import (
    Array,
    Floats,
    are_levels,
    backend_of,
    beyond_floats,
    detached,
    is_array,
    is_dask,
    to_numpy,
    unmasked,
)  # fmt: skip
from lrnn.functional.open_scale import open_coded, open_decoded
from lrnn.tables.frame import Columns, Frame, FrameColumns, is_frame
from lrnn.tables.kinds import opened
from lrnn.tables.ledger import Ledger, passing
from lrnn.tables.messages import FILLS, Place, Setting, TableError, TableWarning, warn
from lrnn.tables.offences import first_offending, unfit
from lrnn.tables.reading import Reading
from lrnn.tables.recipe import (
    FEWEST_COUNTED,
    Categories,
    Chosen,
    MatrixColumns,
    Missing,
    Recipe,
    TableSource,
    check_names,
)
from lrnn.tables.sources import Source, block_height, read_ahead
from lrnn.tables.survey import FAR, SAMPLE, Facts, far_off
from lrnn.tables.types import matrix_of, numbers_of, type_of_columns, types_of

__all__ = ["KINDS", "Kind", "ScaledSource", "Scaling"]

Kind = Literal["auto", "none", "levels", "max", "minmax"]
KINDS: tuple[str, ...] = get_args(Kind)
OPEN = "open"  # a kind for those who look at what is beyond the range: nothing is cut off
WHITES = (255.0, 65_535.0)  # the highest levels of 8 and of 16 bits
NEARLY_CONSTANT = 0.1  # of a number that never changed is what counts as a range of it
ABSURD = 10.0  # times the range of nearly all numbers: what makes it so wide does not count
NEARLY_ALL = (0.01, 0.99)
IN_MEMORY = 1 << 27  # cells of a table that are rather held than read again


@dataclass(frozen=True, eq=False, repr=False)
class Scaling:
    """How raw data get into [0, 1]: ``(x − low) / span``, attribute by attribute.

    "none" leaves numbers as they are, "levels" divides by the level that is white, "max" divides
    each column by its maximum, "minmax" maps each column's range to [0, 1]. A constant column
    becomes 0 (with "max", only one that is 0 throughout). "open", which an outlier detector makes,
    maps each column's range to [1/4, 3/4], and whatever is beyond it to what is left: it cuts
    nothing off.

    A network has no bias, and low numbers excite nothing in it. If they are ``complemented``, a
    model presents each attribute x beside 1 − x to two input neurons, by
    :func:`lrnn.functional.complement_coded`, after `apply`; what two output neurons give back
    becomes one number again before `revert`.

    Attributes
    ----------
    kind : {"none", "levels", "max", "minmax", "open"}
        Which of these.
    low, span : float or ndarray
        The lowest value, and the range above it, of each attribute or of all.
    recipe : Recipe or None
        Which columns of a table become attributes, and how, where not all are taken as they are.
    reading : Reading
        How the file that they were in was read.
    seen : tuple of str or None
        Names of the columns that it was made of, in their order, if they had names and there is no
        recipe.
    complemented : bool
        Whether a model sees each attribute x beside 1 − x.

    Examples
    --------
    >>> raw = np.array([[10.0, 3.0], [20.0, 3.0], [15.0, 3.0]])
    >>> scaling = Scaling.fit(raw, "minmax")
    >>> scaling.apply(raw)[:, 0].tolist()
    [0.0, 1.0, 0.5]
    >>> bool((scaling.revert(scaling.apply(raw)) == raw).all())
    True
    """

    kind: str
    low: Floats | float = 0.0
    span: Floats | float = 1.0
    recipe: Recipe | None = None
    reading: Reading = field(default_factory=Reading)
    seen: tuple[str, ...] | None = None
    complemented: bool = False

    def __eq__(self, other: object) -> bool:
        """Whether both do the same to the same data, and to the same files."""
        if not isinstance(other, Scaling):
            return NotImplemented
        return (
            (self.kind, self.recipe, self.reading, self.seen, self.complemented)
            == (other.kind, other.recipe, other.reading, other.seen, other.complemented)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.span, other.span)
        )

    def __hash__(self) -> int:
        low, span = (tuple(np.ravel(numbers).tolist()) for numbers in (self.low, self.span))
        return hash((self.kind, low, span, self.complemented))

    @classmethod
    def fit(
        cls,
        X: Any,
        kind: str = "auto",
        *,
        columns: Chosen = None,
        drop: Chosen = None,
        label: str | int | None = None,
        index: str | int | None = None,
        categories: Categories = "refuse",
        missing: Missing = "refuse",
        white: float | None = None,
        names: Sequence[str] | None = None,
        complement: bool = False,
    ) -> "Scaling":
        """The scaling that takes these data to [0, 1].

        Numbers that it would cut off are refused, as are such as are not finite.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or what is larger than memory
            Raw data: whatever `LRNNAutoencoder.fit` takes.
        kind : {"auto", "none", "levels", "max", "minmax"}, default="auto"
            "auto" leaves numbers that are in [0, 1], and levels of 8 or 16 bits, as they are,
            divides sparse ones by the maxima of their columns, and takes the range of all others.
        columns, drop : names or numbers from 0, optional
            The columns to take, and those to leave out.
        label, index : name or number from 0, optional
            Columns that are no attributes, but go along with the rows.
        categories : {"refuse", "onehot"}, default="refuse"
            What to do with columns of text: an attribute for each of their values.
        missing : {"refuse", "drop", "median", "allow"}, default="refuse"
            What to do with missing cells: leave out their rows, fill in the median of their
            column (of text: what occurs most), or leave them missing, for a model that fills them
            itself (``LRNNAutoencoder(missing="allow")``). A model that leaves rows out gives fewer
            codes than it is given rows, which pipelines and ``set_output`` do not take.
        white : float, optional
            The level that is 1, for "levels" and "auto". By default 255, or 65,535 where there are
            higher ones.
        names : sequence of str, optional
            Names of the columns of an array, for messages.
        complement : bool, default=False
            Whether a model shall see each attribute x beside 1 − x. A classifier that is given
            this scaling does as it says, while one that makes its own of a raw table does so.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import Scaling
        >>> scaling = Scaling.fit(np.array([[10.0, 1.0], [20.0, 5.0]]), "minmax")
        >>> scaling.apply(np.array([[20.0, 3.0]]))
        array([[1. , 0.5]])
        """
        X = _raw(X)
        if kind not in (*KINDS, OPEN):
            raise ValueError(f"the scaling must be one of {', '.join(KINDS)}; got {kind!r}")
        if white is not None and (beyond_floats(white) or not white > 0):
            raise ValueError(
                f"white must be a number above 0 that a float holds, got {white!r:.100}"
            )
        given = (
            (columns, drop, label, index) != (None,) * 4
            or categories != "refuse"
            or missing not in ("refuse", "allow")
        )
        table = _as_columns(X, given, names)
        if table is None:
            X = numbers_of(X)
            if kind == "none" or (kind in ("auto", "levels", OPEN) and are_levels(_dtype(X))):
                return cls("none", complemented=complement)
            made = _fitted(kind, X, limits(X, gaps=missing == "allow"), names, white)
            return replace(made, complemented=complement)
        recipe, facts = Recipe.fit(
            table,
            columns=columns,
            drop=drop,
            label=label,
            index=index,
            categories=categories,
            missing=missing,
        )
        low, high = [], []
        for column, found in zip(recipe.columns, facts, strict=True):
            numbers = column.values is None and not column.truth
            low += [found.low] if numbers else [0.0] * len(column.attributes)
            high += [found.high] if numbers else [1.0] * len(column.attributes)
        levels = _levels_in(X, recipe, facts)
        if kind in ("auto", OPEN) and levels is not None and (not given or max(high) > 1):
            kind, white = ("levels", white or np.iinfo(levels).max) if given else ("none", white)
        source = TableSource(table, recipe, rows=facts[0].rows)
        made = _fitted(kind, source, (np.array(low), np.array(high)), recipe.names, white)
        made = replace(made, complemented=complement)
        plain = not given and not isinstance(X, Columns) and recipe.plain
        return replace(made, seen=recipe.names) if plain else replace(made, recipe=recipe)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the attributes, where a recipe makes them."""
        return None if self.recipe is None else self.recipe.names

    @property
    def range(self) -> tuple[Floats | float, Floats | float]:
        """What becomes 0, and what becomes 1, in the units of the data."""
        return self.low, self.low + self.span

    @property
    def coding(self) -> "Scaling | None":
        """What is left to do with data that are in [0, 1] already, if anything is."""
        return Scaling("none", complemented=True) if self.complemented else None

    @property
    def told(self) -> str:
        """What is done, in a few words, as `lrnn inspect` tells it: "none" where nothing is."""
        return f"{self.kind}, x beside 1 − x" if self.complemented else self.kind

    def __repr__(self) -> str:
        columns = np.size(self.low)
        of = f", {columns} attributes" if np.ndim(self.low) else ""
        of += ", complemented" if self.complemented else ""
        return f"Scaling({self.kind!r}{of}{', with a recipe' if self.recipe is not None else ''})"

    def apply(self, X: Any, ledger: Ledger | None = None) -> Any:
        """The data in [0, 1]; numbers beyond the range that was seen by `fit` are cut off.

        They are counted in ``ledger``. What is larger than memory is scaled as it is read. Without
        scaling numbers are returned untouched, and of the type they have.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or what is larger than memory
            Raw data, as for :meth:`fit`.
        ledger : Ledger, optional
            Where numbers beyond the range are counted.

        Returns
        -------
        scaled : array, sparse matrix or source of rows
            In [0, 1].

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import Scaling
        >>> scaling = Scaling.fit(np.array([[10.0, 1.0], [20.0, 5.0]]), "minmax")
        >>> scaling.apply(np.array([[15.0, 2.0]]))
        array([[0.5 , 0.25]])
        """
        return self.scaled(self.selected(_raw(X, self.reading), ledger), ledger)

    def columns_of(
        self,
        X: Any,
        names: Sequence[str] | None = None,
        wanted: Sequence[str] | None = None,
        **beside: str | None,
    ) -> tuple[Any, Recipe | None]:
        """Data as columns, and the recipe for them; no recipe, if they are a matrix to be used.

        Columns of a matrix may have ``names``. Without a recipe of its own it takes those that are
        ``wanted``, or without any, or without names, all. Columns ``beside`` them, ``label`` and
        ``index``, are those of its own, where no others are given.

        Parameters
        ----------
        X : array-like or data frame
            Raw data.
        names : sequence of str, optional
            Of the columns of a matrix.
        wanted : sequence of str, optional
            Those to take.
        **beside : str or None
            Names of a ``label`` and an ``index``.

        Returns
        -------
        columns : Frame or matrix
            The data.
        recipe : Recipe or None
            What becomes of them.
        """
        given: dict[str, Any] = {kind: name for kind, name in beside.items() if name is not None}
        columns = _as_columns(X, self.recipe is not None or bool(given), names)
        if self.recipe is not None:
            return columns, replace(self.recipe, **given)
        if columns is None or is_frame(X):
            return columns, None
        if not (wanted and columns.named):
            return columns, Recipe.fit(columns, **given)[0]
        check_names(wanted, columns.columns, repr(columns.name))
        recipe = Recipe.fit(columns, columns=list(wanted), **given)[0]
        order = {name: i for i, name in enumerate(wanted)}
        return columns, replace(
            recipe, columns=tuple(sorted(recipe.columns, key=lambda c: order[c.name]))
        )

    def selected(self, X: Any, ledger: Ledger | None = None) -> Any:
        """The attributes of raw data, in their own units: a matrix, or a source of rows.

        Parameters
        ----------
        X : as for :meth:`apply`
            Raw data.
        ledger : Ledger, optional
            Where what is left out is counted.

        Returns
        -------
        attributes : array, sparse matrix or source of rows
            Not scaled.
        """
        table, recipe = self.columns_of(X)
        if recipe is None:
            return X
        source = TableSource(table, recipe, ledger)
        held = source.held(IN_MEMORY if isinstance(X, Columns | Source) else None)
        return source if held is None else held

    def check_order(self, X: Any) -> None:
        """Complain of other columns than the scaling was made of, and of another order of them.

        Numbers are no names: such columns are taken by their position.

        Parameters
        ----------
        X : array-like or data frame
            Raw data.
        """
        names = getattr(X, "columns", None)
        if self.seen is None or names is None or self.recipe is not None:
            return  # a recipe finds columns by their names
        found = tuple(map(str, names))
        if found == self.seen or any(all(map(str.isdigit, own)) for own in (found, self.seen)):
            return
        if len(found) == len(self.seen):
            check_names(self.seen, found, "X")
            first = next(i for i, name in enumerate(found) if name != self.seen[i])
            raise TableError(
                "{at} is there, where the scaling was made of {expected}: the same columns in "
                "another order",
                remedy="give X with its columns in that order, X[{order:.200}]",
                at=Place.at(None, first, found),
                expected=repr(self.seen[first]),
                order=repr(list(self.seen)),
            )

    def scaled(self, X: Any, ledger: Ledger | None = None) -> Any:
        """Attributes, as `selected` gives them, in [0, 1].

        Parameters
        ----------
        X : as :meth:`selected` gives it
            Attributes in their own units.
        ledger : Ledger, optional
            Where numbers beyond the range are counted.

        Returns
        -------
        scaled : array, sparse matrix or source of rows
            In [0, 1].
        """
        if self.kind == "none":
            return X
        self.check_order(X)
        self._check(X)
        if isinstance(X, Source):
            return ScaledSource(X, self, ledger)
        if is_dask(X):
            return self._of_dask(X, ledger)
        if sparse.issparse(X):
            return self._of_sparse(X, ledger)
        if not is_array(X) or isinstance(X, np.ndarray):
            X = matrix_of(X) if is_frame(X) else np.asarray(unmasked(X))
            return self._of_array(numbers_of(X), ledger)
        X = detached(X)
        backend = backend_of(X)
        if ledger is not None:
            self._count(to_numpy(X), ledger)
        xp = backend.xp
        if not xp.isdtype(X.dtype, "real floating"):
            X = xp.astype(X, xp.float64)
        low, span = (
            xp.astype(backend.send(np.asarray(v, dtype=np.float64)), X.dtype)
            for v in (self.low, self._divisor)
        )
        return self._bounded((X - low) / span)

    def _bounded(self, positions: Array) -> Array:
        """Positions in the range as numbers in [0, 1]."""
        if self.kind == OPEN:
            return open_coded(positions)
        return array_namespace(positions).clip(positions, 0, 1)

    def revert(self, scaled: Array) -> Array:
        """Attributes in [0, 1] in the units of the data.

        Parameters
        ----------
        scaled : array of shape (n_rows, n_attributes)
            Attributes in [0, 1].

        Returns
        -------
        values : array of the same shape
            In the units of the data.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import Scaling
        >>> scaling = Scaling.fit(np.array([[10.0, 1.0], [20.0, 5.0]]), "minmax")
        >>> scaling.revert(np.array([[0.5, 0.25]]))
        array([[15.,  2.]])
        """
        if self.kind == "none":
            return scaled
        self._check(scaled)
        if self.kind == OPEN and is_dask(scaled):
            return scaled.map_blocks(self.revert, dtype=scaled.dtype)
        if self.kind == OPEN:
            scaled = open_decoded(scaled if is_array(scaled) else np.asarray(scaled, float))
        if is_array(scaled) and not isinstance(scaled, np.ndarray):
            backend = backend_of(scaled)
            low, span = (
                backend.xp.astype(backend.send(np.asarray(v, dtype=np.float64)), scaled.dtype)
                for v in (self.low, self.span)
            )
            return scaled * span + low
        if is_dask(scaled):
            return scaled * self.span + self.low
        values = np.asarray(scaled)
        kind = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
        return values * np.asarray(self.span, dtype=kind) + np.asarray(self.low, dtype=kind)

    def to_frame(self, scaled: NDArray[Any]) -> Frame | None:
        """Attributes in [0, 1] as columns of the table they came from; None without a recipe.

        A column of text holds the value whose attribute is highest.

        Parameters
        ----------
        scaled : ndarray of shape (n_rows, n_attributes)
            Attributes in [0, 1].

        Returns
        -------
        frame : Frame or None
            Columns in the units of the data.
        """
        if self.recipe is None:
            return None
        values, columns, at = self.revert(scaled), [], 0
        for column in self.recipe.columns:
            width = len(column.attributes)
            if column.values is None:
                columns.append(values[:, at])
            else:
                texts = np.array(column.values, dtype=object)
                columns.append(texts[np.argmax(values[:, at : at + width], axis=1)])
            at += width
        return Frame(tuple(c.name for c in self.recipe.columns), tuple(columns))

    def to_json(self) -> dict[str, Any]:
        """As a model file holds it.

        Returns
        -------
        stored : dict
            Text and numbers.
        """
        found: dict[str, Any] = {"kind": self.kind}
        if self.kind != "none":
            found |= {"low": np.asarray(self.low).tolist(), "span": np.asarray(self.span).tolist()}
        if self.recipe is not None:
            found["recipe"] = self.recipe.to_json()
        if self.reading.given:
            found["reading"] = self.reading.to_json()
        if self.seen is not None:
            found["seen"] = list(self.seen)
        if self.complemented:
            found["complemented"] = True
        return found

    @classmethod
    def from_json(cls, stored: Any) -> "Scaling":
        """What `to_json` gave.

        Parameters
        ----------
        stored : dict
            What a model file holds.
        """
        try:
            recipe = Recipe.from_json(stored["recipe"]) if "recipe" in stored else None
            reading = Reading.from_json(stored.get("reading"))
            kind, complemented = stored["kind"], stored.get("complemented", False)
            if type(complemented) is not bool:
                raise TypeError
            if kind == "none":
                return cls("none", recipe=recipe, reading=reading, complemented=complemented)
            low = np.array(stored["low"], dtype=np.float64)
            span = np.array(stored["span"], dtype=np.float64)
            width = None if recipe is None else len(recipe.names)
            fits = (
                low.shape == span.shape
                and low.ndim < 2
                and (low.ndim == 0 or width in (None, len(low)))
            )
            known = kind in (*KINDS, OPEN) and kind != "auto" and fits
            known = known and (kind != OPEN or (span > 0).all())
            if known and np.isfinite(low).all() and np.isfinite(span).all() and (span >= 0).all():
                if low.ndim == 0:
                    scale = float(low), float(span)
                    return cls(kind, *scale, recipe, reading, complemented=complemented)
                seen = stored.get("seen")
                if seen is None or (len(seen) == len(low) and all(map(_is_text, seen))):
                    seen = None if seen is None else tuple(seen)
                    return cls(kind, low, span, recipe, reading, seen, complemented)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            pass
        raise ValueError(f"it remembers a scaling that makes no sense: {stored!r:.200}")

    @property
    def _divisor(self) -> Any:
        return np.where(np.asarray(self.span) == 0, np.inf, self.span)

    def _of_array(self, X: NDArray[Any], ledger: Ledger | None) -> NDArray[Any]:
        kind = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        if ledger is not None:
            self._count(X, ledger)
        found: NDArray[Any] = np.subtract(X, np.asarray(self.low, dtype=kind), dtype=kind)
        with np.errstate(invalid="ignore"):
            found /= np.asarray(self._divisor, dtype=kind)
            if self.kind == OPEN:
                found = open_coded(found)
        np.clip(found, 0, 1, out=found)
        wrong = ~np.isfinite(X)
        if wrong.any():
            found[wrong] = X[wrong]  # what is no number stays none
        return found

    def _of_sparse(self, X: Any, ledger: Ledger | None) -> Any:
        if self.kind == OPEN:
            raise ValueError(
                "X is a sparse matrix, and the model was made for full ones: its zeros would all "
                "be filled; give X.toarray()"
            )
        shifted = np.flatnonzero(np.broadcast_to(self.low, X.shape[1:]))
        if len(shifted):
            raise TableError(
                "the range of {at} does not begin at 0, and to shift it would fill all zeros of a "
                "sparse matrix",
                remedy="give {scale=max}, which divides by maxima",
                at=Place.at(None, shifted[0]),
            )
        found = sparse.csr_array(X).astype(
            X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        )
        divisor = np.broadcast_to(self._divisor, X.shape[1:])[found.indices]
        if ledger is not None:
            high = np.broadcast_to(self.span, X.shape[1:])[found.indices]
            wrong = (found.data < 0) | (found.data > high * (1 + _slack(found.dtype)))
            ledger.add_sparse(found, wrong, high)
        found.data /= divisor.astype(found.dtype)
        np.clip(found.data, 0, 1, out=found.data)
        return found

    def _of_dask(self, X: Any, ledger: Ledger | None) -> Any:
        """A Dask array or dataframe; what is cut off is counted at once, which reads it."""
        from dask import compute, delayed

        if ledger is not None:
            parts = X.to_delayed() if hasattr(X, "columns") else X.rechunk({1: -1}).to_delayed()
            count = delayed(self._counted, pure=False)
            for found in compute(*(count(part) for part in np.ravel(parts)))[0:]:
                ledger.include(found)
        if hasattr(X, "columns"):
            return X.map_partitions(self._of_frame, meta=self._of_frame(X._meta_nonempty)[:0])
        kind = X.dtype if X.dtype == np.float32 else np.dtype(np.float64)
        whole = X.rechunk({1: -1})
        return whole.map_blocks(self.scaled, dtype=kind, meta=np.empty((0, 0), dtype=kind))

    def _counted(self, block: Any) -> Ledger:
        ledger = Ledger()
        self.scaled(block, ledger)
        return ledger

    def _of_frame(self, frame: Any) -> Any:
        """A data frame of pandas, as one."""
        return type(frame)(
            self._of_array(matrix_of(frame), None), index=frame.index, columns=frame.columns
        )

    def _count(self, X: NDArray[Any], ledger: Ledger) -> None:
        if self.kind == OPEN:
            return
        low, high = self.range
        ledger.add(X, low, high, self._tolerance(X.dtype))

    def _tolerance(self, dtype: Any) -> Any:
        low, high = self.range
        return _slack(dtype) * np.maximum(np.abs(low), np.abs(high))

    def _check(self, X: Any) -> None:
        width = np.size(self.low)
        if np.ndim(self.low) and X.shape[1] != width:
            raise ValueError(
                f"the scaling is for {width} attributes, but the data have {X.shape[1]}"
            )


def attribute_count(scaling: Scaling | None, inputs: int) -> int:
    """How many attributes a network with so many input neurons has under a scaling, or none."""
    return inputs // 2 if scaling is not None and scaling.complemented else inputs


def input_names(names: Sequence[Any], scaling: Scaling | None) -> list[str]:
    """Names of input neurons: those of the attributes, and of their complements, if any."""
    own = [*map(str, names)]
    complemented = scaling is not None and scaling.complemented
    return [*own, *(f"1 − {name}" for name in own)] if complemented else own


def input_shape(shape: Sequence[int] | None, scaling: Scaling | None) -> tuple[int, ...] | None:
    """That of input neurons as an image: complements, if any, are drawn below the attributes.

    None where they cannot be: of images whose colours come one after the other.
    """
    if shape is None or scaling is None or not scaling.complemented:
        return None if shape is None else tuple(shape)
    in_colours = len(shape) == 3 and shape[-1] != 3
    return None if in_colours else (2 * shape[0], *shape[1:])


class ScaledSource(Source):
    """Rows of a source that are scaled as they are read.

    What is cut off is counted once: by the first pass over all rows, in order, that is complete.
    """

    def __init__(self, source: Source, scaling: Scaling, ledger: Ledger | None = None) -> None:
        self.name, self.shape, self.columns = source.name, source.shape, source.columns
        self.in_any_order = source.in_any_order
        self.dtype = scaling.scaled(np.zeros((1, self.shape[1]), source.dtype)).dtype
        self._source, self._scaling, self._ledger = source, scaling, ledger

    @property
    def parts(self) -> tuple[int, ...]:
        """Those of the source."""
        return self._source.parts

    def blocks(self, first: int, height: int) -> Iterator[NDArray[Any]]:
        """Consecutive rows in [0, 1]."""
        with passing(self._ledger, "scaling", first) as ledger:
            for block in self._source.blocks(first, height):
                yield self._scaling.scaled(block, ledger)

    def take(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Some rows in [0, 1]."""
        return np.asarray(self._scaling.scaled(self._source.take(rows)))


def limits(data: Any, gaps: bool = False) -> tuple[Floats, Floats]:
    """The lowest and the highest number of each column, of an array or a source of rows.

    With ``gaps`` those of full arrays may have missing cells (NaN).
    """
    if is_dask(data):
        from dask import compute

        count = data.shape[0]  # of a frame, or after a selection, it is not known yet
        shape = (*compute(count), data.shape[1])
        _check_shape(shape)
        low, high = compute(data.min(axis=0), data.max(axis=0))
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    _check_shape(data.shape)
    low, high = np.full(data.shape[1], np.inf), np.full(data.shape[1], -np.inf)
    for block in _blocks(data):
        if gaps and isinstance(block, np.ndarray) and block.dtype.kind == "f":
            low = np.fmin(low, np.fmin.reduce(block, axis=0))
            high = np.fmax(high, np.fmax.reduce(block, axis=0))
            continue
        if not hasattr(block, "min"):
            block = sparse.csr_array(block)  # of a format that has none
        least, most = (_dense(getattr(block, name)(axis=0)) for name in ("min", "max"))
        low, high = np.minimum(low, least), np.maximum(high, most)
    return low, high


def _raw(X: Any, reading: Reading | None = None) -> Any:
    """Raw data of any kind, two-dimensional; files are read as a scaling remembers."""
    X = detached(opened(X, reading).data)
    if isinstance(X, Source | Columns | Frame):
        return X
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    if len(X.shape) != 2 and not is_dask(X):
        check_array(X, dtype=None, ensure_all_finite=False)  # says what is expected
    return X


def _check_shape(shape: tuple[Any, ...]) -> None:
    if 0 in shape:
        what = "columns" if shape[0] else "rows"
        raise ValueError(f"X has no {what}: its shape is {tuple(shape)}")


def _fitted(
    kind: str,
    data: Any,
    found: tuple[Floats, Floats],
    names: Sequence[str] | None,
    white: float | None,
) -> Scaling:
    """The scaling for data with these limits."""
    low, high = found
    names = data.columns if names is None and isinstance(data, Source) else names
    if (unknown := np.flatnonzero(low > high)).size:
        raise TableError(
            "no cell of {at} is known: all of it is missing",
            remedy="leave that column out",
            at=Place.at(None, unknown[0], names),
        )
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise _refusal(data, kind, names, -np.inf, np.inf)
    levels = are_levels(_dtype(data))
    inside = bool((low >= 0).all() and (high <= 1).all())
    if kind == OPEN and (levels or _holds_sparse(data)):
        kind = "none" if levels else "max"
    if kind == OPEN:
        return _opened(data, found, names)
    if kind == "auto":
        kind = "minmax"
        if levels or inside:
            kind = "none"
        elif white is not None:
            kind = "levels"
        elif sparse.issparse(data):
            kind = "max"
    if kind == "none" or (kind == "levels" and levels):
        _warn_of_constants(kind, found)
        return Scaling("none")
    _warn_of_constants(kind, found)
    _warn_of_counting(data, found, names)
    if kind != "levels":
        _warn_of_far(data, found, names)
    if kind == "levels":
        most = white or next((w for w in WHITES if high.max() <= w), WHITES[-1])
        if (low < 0).any() or (high > most).any():
            raise _refusal(data, kind, names, 0.0, most)
        if inside and most > 1:
            warn(
                f"no value is above 1, and all are divided by {most:g}: nearly nothing is left of "
                'them. Numbers in [0, 1] need no scaling ("none")'
            )
        return Scaling(kind, 0.0, most)
    if kind == "max":
        if (low < 0).any():
            raise _refusal(data, kind, names, 0.0, np.inf)
        low = np.zeros_like(high)
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span).all():
        raise _too_wide((low, high), int(np.flatnonzero(~np.isfinite(span))[0]), names)
    return Scaling(kind, low, span)


def _holds_sparse(data: Any) -> bool:
    """Whether these are sparse matrices, in memory or block by block."""
    if isinstance(data, Source):
        return bool(sparse.issparse(next(iter(data.blocks(0, 1)))))
    return bool(sparse.issparse(data))


def _opened(data: Any, found: tuple[Floats, Floats], names: Sequence[str] | None) -> Scaling:
    """An open scale, on which some absurd numbers do not make the range of all others narrow."""
    low, high = found
    _warn_of_counting(data, found, names)
    if not (isinstance(data, Source) or is_dask(data)):
        step = -(-data.shape[0] * data.shape[1] // SAMPLE)
        cells = matrix_of(data) if is_frame(data) else to_numpy(data[::step, :])
        known = cells.astype(np.float64)
        quantile = np.nanquantile if np.isnan(known).any() else np.quantile
        least, most = quantile(known, NEARLY_ALL, axis=0)
        width = most - least
        absurd = (width > 0) & (high / ABSURD - low / ABSURD > width)
        low = np.where(absurd, np.maximum(low, least - width), low)
        high = np.where(absurd, np.minimum(high, most + width), high)
    sizes = np.maximum(np.abs(low), np.abs(high))
    least_size = float(min(sizes[sizes > 0], default=1.0))  # of dim data it is small
    with np.errstate(over="ignore"):
        span = high - low
    least = np.where(low == 0, min(least_size, 1.0), NEARLY_CONSTANT * np.abs(low))
    constant = span == 0
    low = np.where(constant, low - least / 2, low)  # in the middle of its range
    span = np.where(constant, np.maximum(least, np.finfo(np.float64).tiny), span)
    if not np.isfinite(span).all():
        raise _too_wide(found, int(np.flatnonzero(~np.isfinite(span))[0]), names)
    return Scaling(OPEN, low, span)


def _too_wide(found: tuple[Floats, Floats], column: int, names: Sequence[str] | None) -> TableError:
    low, high = found
    return TableError(
        "the range of {at}, from {low:g} to {high:g}, is beyond all numbers",
        remedy="divide that column by some large one",
        at=Place.at(None, column, names),
        low=low[column],
        high=high[column],
    )


def _refusal(
    data: Any, kind: str, names: Sequence[str] | None, least: float, most: float
) -> TableError:
    """Cells that are not finite, or that a scaling of this kind would cut off."""
    found = first_offending(
        _blocks(data), lambda x: ~((x >= least) & (x <= most) & np.isfinite(x)), names
    )
    if found is None:
        return TableError("the data changed while they were read")
    if not np.isfinite(found.value):
        return unfit(found, FILLS)
    if sparse.issparse(data):
        return unfit(
            found,
            "a sparse matrix cannot be shifted without filling all its zeros: give a full one, "
            "X.toarray(), and {scale=minmax}",
            (least, most),
        )
    return unfit(
        found, f"scaling by {kind} would cut that off; give {{scale=minmax}}", (least, most)
    )


def _warn_of_constants(kind: str, found: tuple[Floats, Floats]) -> None:
    """Warn of data of which a scaling leaves zeros alone, from which nothing is learnt."""
    low, high = found
    zeros = not (low.any() or high.any())
    if not zeros and (kind != "minmax" or (low < high).any()):
        return
    holds = "all numbers are 0"
    if not zeros:
        holds = f"none of {len(low):,} columns varies: scaled by its range, each is 0 in every row"
    remedy = "{scale=max} keeps what is above 0" if (high > 0).any() else ""
    learnt = "Nothing is learnt from zeros, and an error of 0 says nothing"
    warn(TableWarning(f"{holds}. {learnt}", remedy=remedy))


def _warn_of_counting(data: Any, found: tuple[Floats, Floats], names: Any) -> None:
    """Warn of columns that only count the rows; a table's recipe has done so already."""
    low, high = found
    if isinstance(data, TableSource) or sparse.issparse(data) or is_dask(data):
        return
    rows = int(data.shape[0])
    if rows < FEWEST_COUNTED:
        return
    with np.errstate(over="ignore"):
        counted = np.flatnonzero(high - low == rows - 1)
    for column in counted[:8]:
        cells = np.concatenate([to_numpy(block[:, int(column)]) for block in _blocks(data)])
        if (np.diff(cells.astype(np.float64)) == 1).all():
            warn(
                TableWarning(
                    "{at} only counts the rows, from {low:g} to {high:g}, and is trained on like "
                    "any other",
                    remedy="{drop} leaves it out",
                    at=Place.at(None, column, names),
                    low=low[column],
                    high=high[column],
                    drop=Setting("drop", Place.at(None, column, names)),
                )
            )


def _warn_of_far(data: Any, found: tuple[Floats, Floats], names: Any) -> None:
    """Warn of numbers far from all others of their column; a table's recipe has done so already.

    Some rows are looked at, and the lowest and the highest number of each column.
    """
    if isinstance(data, Source) or sparse.issparse(data) or is_dask(data):
        return
    step = -(-data.shape[0] * data.shape[1] // SAMPLE)
    cells = matrix_of(data) if is_frame(data) else to_numpy(data[::step, :])
    cells = np.concatenate([cells, found]) if step > 1 else cells
    low, high = found
    middle = np.nanmedian(cells, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.abs(cells - middle) <= (high - low) / (FAR - 1)
    crowded = np.count_nonzero(near, axis=0) >= 0.9 * np.count_nonzero(~np.isnan(cells), axis=0)
    for column in np.flatnonzero(crowded & (high > low)):
        numbers = cells[:, column]
        far = far_off(numbers[~np.isnan(numbers)])
        if far is not None:
            warn(
                TableWarning(
                    "{at} {far}, of which next to nothing is left in such a range",
                    remedy="mend such cells, or if it stands for a missing number, put NaN in its "
                    "place",
                    at=Place.at(None, column, names),
                    far=far.told,
                )
            )


def _is_text(name: Any) -> bool:
    return isinstance(name, str)


def _as_columns(X: Any, needed: bool, names: Sequence[str] | None = None) -> Columns | None:
    """Data as columns under their names, if they are such, or ``needed`` as such."""
    if isinstance(X, Columns) and (needed or not getattr(X, "holds_numbers", False)):
        return X
    if is_frame(X):
        return FrameColumns(X)
    if not needed:
        return None
    if isinstance(X, Source):
        return MatrixColumns(X, names)
    if sparse.issparse(X) or is_dask(X):
        raise TypeError(
            f"columns of a {type(X).__name__} cannot be chosen here; choose them before, by "
            "indexing it"
        )
    return MatrixColumns(to_numpy(X) if is_array(X) else np.asarray(X), names)


def _blocks(data: Any) -> Iterator[Any]:
    """Blocks of raw rows, one after the other; an array in memory is one."""
    if is_dask(data):
        parts = data.partitions if hasattr(data, "columns") else data.rechunk({1: -1}).blocks
        for part in parts:
            block = part.compute()
            yield matrix_of(block) if is_frame(block) else np.asarray(block)
        return
    if isinstance(data, Source):
        yield from read_ahead(data.blocks(0, block_height(data.shape[1], data.dtype)))
    else:
        yield to_numpy(data) if is_array(data) else data


def _levels_in(X: Any, recipe: Recipe, facts: Sequence[Facts]) -> Any:
    """The type of the levels that all columns of a recipe hold; None if they do not."""
    if is_frame(X):
        kinds = types_of(X)
        found = {kinds[column.position] for column in recipe.columns}
        whole = len(found) == 1 and not any(column.missing for column in facts)
        kind = found.pop() if whole else None
    else:  # what does not hold numbers alone has no type
        kind = getattr(X, "dtype", None) if getattr(X, "holds_numbers", True) else None
    return kind if kind is not None and are_levels(kind) else None


def _dtype(data: Any) -> Any:
    """The type of the numbers, of a dataframe's too."""
    if hasattr(data, "dtype"):
        return data.dtype
    return type_of_columns(types_of(data), list(data.columns))


def _dense(values: Any) -> Floats:
    """The lowest or highest numbers of columns, those of a sparse matrix too."""
    full = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return full.reshape(-1).astype(np.float64)


def _slack(dtype: Any) -> float:
    """What rounding may do, also that of float32 to numbers that were float64 in training."""
    return 16 * float(np.finfo(np.float32).eps) if np.dtype(dtype).kind == "f" else 0.0
