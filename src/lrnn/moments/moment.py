r"""The second moment as a value: sums over rows that can be kept, sent, added and subtracted.

While no hidden neuron saturates, the error of an autoencoder depends on the data X only through
:math:`X^\mathsf{T} X`. Sums of the rows of A and of B add up to those of A and B together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, isfinite
from numbers import Real
from operator import add
from os import PathLike, fspath
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from lrnn.arrays import HOST, Floats, beyond_floats, host_dtype
from lrnn.moments.sums import LARGEST, Sums, sums_of
from lrnn.rows.validation import check_data, weighted
from lrnn.tables.messages import Place, TableError, Text, warn
from lrnn.tables.scaling import KINDS, Scaling

LOST = 1e-3  # share of the rows' weight that rounding may be, before it is said


@dataclass(frozen=True, eq=False, repr=False)
class Moment:
    """Sums over rows of data: all that the gram solver needs to know of them.

    ``a + b`` is the moment of the rows of both, ``a - b`` that of the rows of a without those of b
    (which must be among them), ``a * w`` that of rows that weigh w times as much. Sums are taken in
    float64. :meth:`LRNNAutoencoder.fit` takes a moment in the place of rows, and :meth:`save`
    writes it to a file.

    Moments add if they are of the same columns, in the same scaling, and of levels or not. A
    scaling that is fixed beforehand (``scale=Scaling.fit(...)``) keeps them so.

    Such sums are **not private** in themselves: that of one row tells the row, and the difference
    of two tells what lies between them.

    Attributes
    ----------
    gram : ndarray of shape (n_attributes, n_attributes)
        XᵀX, for data X in [0, 1].
    column_sums : ndarray of shape (n_attributes,)
        Sums of the columns.
    weight : float
        What all rows weigh: their number, unless weights were given.
    n_rows : int
        How many rows there are.
    low, high : ndarray of shape (n_attributes,) or None
        The lowest and the highest number of each column. A difference does not know them.
    names : tuple of str or None
        Names of the columns, where the data had names.
    scaling : Scaling or None
        How the data got into [0, 1], if that was done here.
    white : float or None
        The level that is 1, if the data were levels.
    dtype : dtype
        The type of the data as floats, in which a model is trained.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import LRNNAutoencoder, Moment
    >>> X = np.random.default_rng(0).random((60, 4))
    >>> yesterday, today = Moment.of(X[:50]), Moment.of(X[50:])
    >>> yesterday + today
    Moment(60 rows, 4 attributes)
    >>> both, at_once = (LRNNAutoencoder(2).fit(m) for m in (yesterday + today, Moment.of(X)))
    >>> bool(np.allclose(both.transform(X), at_once.transform(X)))
    True
    """

    sums: Sums
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    scaling: Scaling | None = None
    white: float | None = None

    __array_ufunc__: ClassVar[None] = None  # w * moment is for us, if w is a number of NumPy

    def __post_init__(self) -> None:
        for array in (self.gram, self.column_sums, self.low, self.high):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def of(
        cls,
        X: Any,
        sample_weight: Any = None,
        *,
        scale: str | Scaling | None = None,
        device: str | None = None,
    ) -> "Moment":
        """The moment of data, in one pass over them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Whatever :meth:`LRNNAutoencoder.fit` takes: in memory, on a device, in a file, on a
            cluster.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs. A weight of 2 counts a row twice, one of 0 leaves it out.
        scale : {"auto", "minmax", "max", "levels", "none"} or Scaling, optional
            How raw data get into [0, 1], as the parameter of `LRNNAutoencoder`. One that is made
            from X itself fits no other data: give a :class:`lrnn.Scaling` where moments are to be
            added.
        device : str, optional
            "cuda" (or "cuda:1" …) sends NumPy data to a GPU, block by block.

        Examples
        --------
        >>> from lrnn import Moment
        >>> Moment.of([[0.0, 0.5], [1.0, 0.25]], sample_weight=[2.0, 1.0]).weight
        3.0
        """
        reader = _Reader(scale, device)
        rows = check_data(reader, X, reset=True)
        width = rows.shape[1]
        if width**2 > LARGEST:
            raise ValueError(
                f"X has {width:,} attributes: {width:,} × {width:,} sums would take "
                f"{8 * width**2 >> 30:,} GiB, and a moment has at most {int(LARGEST**0.5):,}. Only "
                "an implicit moment serves such data, which keeps the rows and is not additive: "
                "fit on the rows themselves"
            )
        rows = weighted(rows, sample_weight, relative=False, scale=scale)
        sums = sums_of(rows).on(HOST)
        names = getattr(reader, "feature_names_in_", None)
        return cls(
            sums,
            host_dtype(rows.dtype),
            None if names is None else tuple(map(str, names)),
            reader.scaling_,
            reader.white_,
        )

    @classmethod
    def merge(cls, moments: Iterable["Moment"]) -> "Moment":
        """The moment of the rows of all.

        Parameters
        ----------
        moments : iterable of Moment
            One or more, of the same columns in the same scaling.

        Examples
        --------
        >>> from lrnn import Moment
        >>> Moment.merge([Moment.of([[0.0, 0.5]]), Moment.of([[1.0, 0.25]])])
        Moment(2 rows, 2 attributes)
        """
        found = list(moments)
        if not found:
            raise ValueError("there are no moments to merge; give at least one")
        for moment in found:
            if not isinstance(moment, Moment):
                raise TypeError(f"only moments can be merged, got {moment!r:.100}")
        return reduce(add, found)

    @property
    def gram(self) -> Floats:
        """XᵀX of the rows in [0, 1], each as often as it weighs, in float64.

        Divided by `weight` it is the mean of the products of two attributes; its diagonal, the mean
        squares. With complements, columns of all x come first, then those of all 1 − x.
        """
        return np.asarray(self.sums.gram)

    @property
    def column_sums(self) -> Floats:
        """Sums of the columns, in [0, 1]; divided by `weight`, the means of the attributes.

        They are not in the units of the data: ``scaling.revert`` brings means back to these.
        """
        return np.asarray(self.sums.columns)

    @property
    def weight(self) -> float:
        """What all rows weigh together: the divisor of all means.

        It is `n_rows` where no weights were given, nothing was multiplied, and no row is forgotten.
        """
        return self.sums.weight

    @property
    def n_rows(self) -> int:
        """How many rows there are that weigh anything; multiplying a moment does not change it."""
        return self.sums.n_rows

    @property
    def low(self) -> Floats | None:
        """The lowest number of each column, in [0, 1].

        None after a subtraction: which of the rows had it is not known any more.
        """
        return self.sums.low

    @property
    def high(self) -> Floats | None:
        """The highest number of each column, in [0, 1], which keeps code neurons from saturating.

        None after a subtraction; a model then takes it to be 1.
        """
        return self.sums.high

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of attributes (twice as many, if complements stand beside them)."""
        return self.n_rows, int(self.gram.shape[0])

    def __add__(self, other: Any) -> "Moment":
        if not isinstance(other, Moment):
            return NotImplemented
        self._check_alike(other, "added")
        return self._with(other, self.sums + other.sums)

    def __sub__(self, other: Any) -> "Moment":
        if not isinstance(other, Moment):
            return NotImplemented
        self._check_alike(other, "subtracted")
        left = self.sums - other.sums
        wrong = impossible(left)
        if wrong is not None:
            raise TableError(
                "these rows were not in it: without them {wrong}",
                remedy="subtract only what was added",
                wrong=wrong,
            )
        if not left.n_rows:  # but for rounding
            left = left * 0.0
        elif left.rounding > LOST * left.weight:
            warn(
                f"so much was subtracted that the sums over the {left.n_rows:,} rows that are left "
                f"are wrong by up to {left.rounding / max(left.weight, left.rounding):.2g} of what "
                "they weigh; take their moment anew, if you can"
            )
        weight, columns = max(left.weight, 0.0), np.maximum(np.asarray(left.columns), 0)
        clipped = replace(left, gram=np.maximum(left.gram, 0), weight=weight, columns=columns)
        return self._with(other, clipped)

    def __mul__(self, factor: Any) -> "Moment":
        if not isinstance(factor, Real):
            return NotImplemented
        value = inf if beyond_floats(factor) else float(factor)
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"a moment is multiplied by a weight, 0 or more; got {factor!r}")
        with np.errstate(over="ignore"):
            sums = self.sums * value
        if not (isfinite(sums.weight) and np.isfinite(sums.gram).all()):
            raise ValueError(f"this moment multiplied by {factor!r} is too large for floats")
        return replace(self, sums=sums)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are the same, and what is known of the columns."""
        if not isinstance(other, Moment):
            return NotImplemented
        arrays = ("gram", "column_sums", "low", "high")
        return (
            (self.weight, self.n_rows, self.dtype) == (other.weight, other.n_rows, other.dtype)
            and (self.names, self.white) == (other.names, other.white)
            and same_scaling(self.scaling, other.scaling)
            and all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)
        )

    def __repr__(self) -> str:
        facts = [f"{self.n_rows:,} rows", f"{self.shape[1]:,} attributes"]
        if self.weight != self.n_rows:
            facts.insert(1, f"weight {self.weight:g}")
        if self.scaling is not None and self.scaling.told != "none":
            facts.append(f"scaled by {self.scaling.told}")
        if self.white is not None:
            facts.append(f"levels of which {self.white:g} is 1")
        return f"Moment({', '.join(facts)})"

    def __array__(self, *_args: Any, **_options: Any) -> NDArray[Any]:
        """Sums are no rows."""
        raise TypeError(
            "X is a Moment, which holds sums over rows and no rows; only fit takes one, and all "
            "else needs the rows themselves"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a safetensors file; :func:`lrnn.load_moment` reads it back.

        Parameters
        ----------
        path : str or path-like
            The file. It is replaced as a whole, or not at all.

        Examples
        --------
        >>> import tempfile
        >>> from lrnn import Moment, load_moment
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Moment.of([[0.0, 0.5]]).save(f"{folder}/monday.safetensors")
        ...     Moment.of([[1.0, 0.25]]) + load_moment(f"{folder}/monday.safetensors")
        Moment(2 rows, 2 attributes)
        """
        from lrnn.storage.moment_files import save

        save(self, fspath(path))

    def check_scale(self, scale: str | Scaling | None, complement: bool = False) -> None:
        """Complain of a scaling that a model asks for, if the sums were taken in another one.

        Parameters
        ----------
        scale : str, Scaling or None
            What the model asks for.
        complement : bool, default=False
            Whether it wants attributes beside their complements.
        """
        own = self.scaling or Scaling("none")
        if complement and not own.complemented:
            raise ValueError(
                "complement=True, but the moment was taken of attributes without their "
                "complements; give scale=Scaling.fit(X, ..., complement=True) to Moment.of"
            )
        fits = scale in (None, "auto", own.kind)
        if fits or (isinstance(scale, Scaling) and same_scaling(scale, own)):
            return
        raise ValueError(
            f"scale={scale!r}, but the moment was taken of data scaled by {own!r}: sums cannot be "
            "scaled any more. Leave scale=None, and give it to Moment.of"
        )

    def _with(self, other: "Moment", sums: Sums) -> "Moment":
        """Sums of both, and what is known of either."""
        dtype = np.result_type(self.dtype, other.dtype)
        scaling = self.scaling or other.scaling
        return Moment(sums, dtype, self.names or other.names, scaling, self.white)

    def _check_alike(self, other: "Moment", done: str) -> None:
        own, others = self.shape[1], other.shape[1]
        cannot = f"these moments cannot be {done}: "
        if own != others:
            raise TableError(f"{cannot}one has {own:,} columns, the other {others:,}")
        if self.names is not None and other.names is not None and self.names != other.names:
            i = next(i for i in range(own) if self.names[i] != other.names[i])
            raise TableError(
                cannot + "{at} is {one} in one and {two} in the other",
                at=Place(column=i),
                one=repr(self.names[i]),
                two=repr(other.names[i]),
            )
        if not same_scaling(self.scaling, other.scaling):
            raise OtherScalingError(
                cannot + "they are of different scalings, {one} and {two}{where}",
                remedy="fix one beforehand, Scaling.fit(X, ...), and give it to both, "
                "Moment.of(X, scale=...)",
                one=self.scaling,
                two=other.scaling,
                where=_where(self.scaling, other.scaling),
            )
        if self.white != other.white:
            one, two = (
                f"the level {m.white:g} is 1" if m.white else "there are no levels"
                for m in (self, other)
            )
            raise TableError(
                f"{cannot}they are of different levels: in one {one}, in the other {two}",
                remedy="divide levels by the one that is 1, and give numbers in [0, 1] to both",
            )
        if (self.names is None) != (other.names is None):
            warn(
                "only one of these moments knows the names of its columns; those of the other are "
                "taken to be the same, in the same order"
            )


class OtherScalingError(TableError):
    """Moments of data that were scaled in different ways."""


class _Reader(BaseEstimator):  # type: ignore[misc]
    """What `check_data` asks of an estimator."""

    def __init__(self, scale: str | Scaling | None = None, device: str | None = None) -> None:
        if isinstance(scale, str) and scale not in KINDS:
            raise ValueError(f"scale must be one of {', '.join(KINDS)} or a Scaling; got {scale!r}")
        self.scale, self.device = scale, device

    def _complements(self, scaling: Scaling | None) -> bool:
        return False  # unless the scaling does itself


_Reader.__name__ = "Moment"  # as errors call it


def same_scaling(one: Scaling | None, other: Scaling | None) -> bool:
    """Whether the same raw data become the same numbers; how files are read does not matter."""

    def facts(scaling: Scaling | None) -> dict[str, Any]:
        found = (scaling or Scaling("none")).to_json()
        found.pop("reading", None)
        return found

    return facts(one) == facts(other)


def _where(one: Scaling | None, other: Scaling | None) -> Text:
    """The first attribute in which two scalings of the same kind differ."""
    if one is None or other is None or one.kind != other.kind or one.kind == "none":
        return Text("")
    pairs = [np.atleast_1d(s.low) + 0j + 1j * np.atleast_1d(s.span) for s in (one, other)]
    if pairs[0].shape != pairs[1].shape or not (pairs[0] != pairs[1]).any():
        return Text("")
    i = int(np.flatnonzero(pairs[0] != pairs[1])[0])
    ranges = [f"{p[i].real:g} to {p[i].real + p[i].imag:g}" for p in pairs]
    said = f": {{at}} goes from {ranges[0]} in one, from {ranges[1]} in the other"
    return Text(said, at=Place(column=i))


def impossible(sums: Sums) -> Text | None:
    """What shows that no rows in [0, 1] have these sums, but for rounding; None if nothing does."""
    gram, columns, slack = sums.gram, np.asarray(sums.columns), sums.rounding
    diagonal = np.diagonal(gram)
    if sums.n_rows < 0 or sums.weight < -slack:
        return Text(f"{sums.n_rows:,} rows of weight {sums.weight:g} would be left")
    for found, what in (
        (diagonal, "the sum of squares"),
        (columns, "the sum"),
        (gram.min(axis=1), "a sum of products"),
    ):
        if (found < -slack).any():
            i = int(np.flatnonzero(found < -slack)[0])
            return Text(f"{what} of {{at}} would be {found[i]:.3g}", at=Place(column=i))
    for smaller, larger, what in (
        (diagonal, columns, "squares would sum to more than the numbers"),
        (columns, sums.weight, "numbers would sum to more than the rows weigh"),
    ):
        if (smaller > larger + 2 * slack).any():
            i = int(np.flatnonzero(smaller > larger + 2 * slack)[0])
            return Text(f"in {{at}} {what}", at=Place(column=i))
    return None
