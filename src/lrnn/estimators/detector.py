"""The outlier detector as a scikit-learn estimator: it knows what is normal, and says why not."""

from dataclasses import dataclass, replace
from math import ceil
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from lrnn.analysis.audit import Audit
from lrnn.analysis.explanations import Explanation, worded
from lrnn.analysis.normality import (
    Grouped,
    Normality,
    neighbours_for,
    strangeness,
    without_a_known_cell,
)
from lrnn.analysis.widths import WidthPath, widths
from lrnn.arrays import HOST, Floats, host_dtype, to_numpy
from lrnn.estimators.autoencoder import FEW_TO_FILL, LRNNAutoencoder
from lrnn.functional.forward import complement_pairs
from lrnn.network import RandomNeuralNetwork
from lrnn.network.weights import Part
from lrnn.rows import HostRows, Rows, WeightedRows, attributes_of
from lrnn.rows.gaps import Filling
from lrnn.rows.validation import (
    Interval,
    StrOptions,
    check_data,
    counted,
    fit_context,
    num_samples,
    raw_matrix,
    weighted,
)
from lrnn.tables.messages import Place, SettingWarning, TableWarning, warn
from lrnn.tables.scaling import KINDS, OPEN, Scaling
from lrnn.training import learn_filling
from lrnn.training.held_out import taken
from lrnn.training.parameters import check_layer_sizes

LEVEL = 0.05  # share of normal rows that are called outliers, unless it is said otherwise
FEW = 5_000  # rows, up to which all of them are held out once,
FOLDS, FOLDS_OF_FEW, FEW_ROWS = 5, 10, 100  # in so many parts
FEW_CELLS = 1 << 21  # of these
HELD_OUT, SHARE = 1_000, 5  # of more rows, but at most a fifth; they are not learnt from
ONE_BY_ONE = 512  # rows, up to which distances are taken without the row itself alone
KEPT = 1_000  # measurements of rows of a stream, before they were learnt from: the last ones
WIDEST = 64  # code neurons that are tried
TRIED = 3  # widths
ROWS_TO_TRY = 500
NARROW = 1_024  # inputs, up to which steps on a matrix are cheap, however few the rows are
SURE = 1e-3  # probability by which a rate on rows held out is told to be another


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What was measured of rows before, or without, learning from them.

    Attributes
    ----------
    parts : ndarray of shape (n_rows, 2)
        What was not given back, and the distance from other rows.
    weights : ndarray of shape (n_rows,)
        How many rows each stands for.
    """

    parts: Floats
    weights: Floats

    def __add__(self, other: "HeldOut") -> "HeldOut":
        parts = np.concatenate([self.parts, other.parts])[-KEPT:]
        return HeldOut(parts, np.concatenate([self.weights, other.weights])[-KEPT:])

    def __mul__(self, factor: float) -> "HeldOut":
        return replace(self, weights=self.weights * factor)

    @property
    def scales(self) -> tuple[float, float]:
        """What is usual of both parts: their medians, or means if these are 0.

        They are at least so large that one can divide by them.
        """
        least = np.finfo(np.float64).tiny ** 0.5
        found = [_median(part, self.weights) for part in self.parts.T]
        return float(max(found[0], least)), float(max(found[1], least))


@dataclass(frozen=True, eq=False)
class Alike:
    """Rows of attributes in [0, 1], no two of which are the same.

    Attributes
    ----------
    cells : ndarray of shape (n_rows, n_attributes)
        The rows, complete.
    weights : ndarray of shape (n_rows,)
        How many rows each stands for.
    known : ndarray of bool or None
        Which cells were not missing; None if none was.
    """

    cells: Floats
    weights: Floats
    known: NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class FittedDetector:
    """What makes a detector a fitted one, whether it was trained or read from a file."""

    autoencoder: LRNNAutoencoder
    normality: Normality
    held_out: HeldOut
    offset: float
    flagged_share: float
    width_path: WidthPath | None = None


class UnknownRowsWarning(TableWarning):
    """Rows without any known cell, of which nothing can be said."""


class LRNNOutlierDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Finds rows that do not belong, and says why.

    A nonnegative autoencoder, which is a random neural network (:class:`lrnn.LRNNAutoencoder`),
    learns to give normal rows back; and some rows that are typical of all are remembered. A row is
    strange by what the network cannot give back of it, and by how far it is from the nearest rows.
    Strangeness is measured by that of rows that were held out: it is about 1 for a usual one. It
    is a sum over attributes, by which :meth:`explain` tells what makes a row strange, and what was
    expected instead, in the units of the data.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, optional
        Widths of the network's encoding layers; the last one is the code. By default one, as wide
        as foretells held-out entries best (:func:`lrnn.widths`) of up to three widths
        (``width_path_``).
    contamination : "auto" or float in (0, 0.5], default="auto"
        The share of strange rows among those of ``fit``: :meth:`predict` calls so many of *them*
        outliers, as in scikit-learn, and more neighbours are looked at, so that strange rows do
        not vouch for each other. With "auto" rows are taken to be normal, and a row is an outlier
        if not more than 5 % of rows that were held out are as strange.
    n_neighbors : "auto" or int, default="auto"
        So many of the nearest rows are looked at: 5 by default; with a ``contamination`` 20, or as
        many as are strange by it, but at most a third of all.
    n_typical : int, default=256
        So many typical rows are kept, at most (and at most half as many as there are rows): means
        of groups of rows, not rows themselves. With 0 a row's strangeness is the error of the
        network alone.
    max_iter : int, default=30
        Full-batch steps of the network's training.
    scale : {"open", "auto", "minmax", "max", "levels", "none"} or Scaling, default="open"
        How raw data get into [0, 1]. "open" leaves levels of 8 or 16 bits as they are, divides
        sparse data by the maxima of their columns, and takes others from the range of each column
        to [1/4, 3/4], and whatever is beyond to what is left: nothing is cut off. Other ways cut
        off what is beyond the range of training, with a warning that counts.
    complement : {"auto", True, False}, default="auto"
        Present each attribute x beside 1 − x, so that the network notices what is missing, too.
        "auto" does so unless columns are divided by their maxima, as sparse ones are.
    missing : {"refuse", "allow", "unstored"}, default="refuse"
        What to do with missing cells, as for :class:`lrnn.LRNNAutoencoder`. With "allow" known
        cells alone count; a row without any has the strangeness 0, and is told of.
    forget : float, optional
        For :meth:`partial_fit`: after how many more rows a row counts half.
    device : str, optional
        "cuda" (or "cuda:1" …) sends NumPy data to a GPU, and brings results back.
    random_state : int, RandomState instance or None, default=None
        Determines which rows are held out, and where groups of rows begin.
    verbose : int, default=0
        Show a progress bar if above 0.

    Attributes
    ----------
    autoencoder_ : LRNNAutoencoder
        The network.
    typical_rows_ : ndarray of shape (n_typical, n_features) or None
        Typical rows, in the units of the data.
    typical_counts_ : ndarray of shape (n_typical,) or None
        How many rows each of them stands for.
    offset_ : float
        ``decision_function`` is ``score_samples`` minus this.
    flagged_share_ : float
        The share of held-out rows that :meth:`predict` would call outliers: about 0.05, or what
        ``contamination`` comes to for rows that were not learnt from.
    held_out_scores_, held_out_weights_ : ndarray
        What ``score_samples`` was for rows that were held out, in ascending order, and how many
        rows each stands for: rows that are alike are one.
    width_path_ : WidthPath or None
        Errors of the widths that were tried, where none was given.
    n_iter_ : int
        Full-batch steps that were made.
    n_features_in_ : int
        Number of attributes.
    feature_names_in_ : ndarray of str
        Their names, where the data had names.
    scaling_ : Scaling or None
        How raw data get into [0, 1].

    Notes
    -----
    Held-out scores of up to 5,000 rows (and 2,097,152 cells) come from networks that were trained
    without a fifth of them (a tenth, of up to 100), and from typical rows that are made without
    these (of up to 512 rows, without the row itself, as ranges of columns are). Of more rows 1,000
    are held out (a fifth, at most), and not learnt from. In a stream each part is measured before
    it is learnt, and the last 1,000 rows count.

    A row that was learnt from is among its own neighbours: it looks more normal than it would if
    it were new, and what is expected of it is nearer to what it is.

    Examples
    --------
    >>> import numpy as np
    >>> from lrnn import LRNNOutlierDetector
    >>> X = np.random.default_rng(0).random((300, 1)) * [10.0, 2.0, 300.0]
    >>> model = LRNNOutlierDetector(random_state=0).fit(X)
    >>> model.predict([[5.0, 1.0, 150.0], [5.0, 1.0, 20.0]])
    array([ 1, -1])
    >>> print(model.explain([[5.0, 1.0, 20.0]]).sentence(0, 1))
    column 3 is 20 (expected 1..., ... %)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "hidden_layer_sizes": [
            "array-like",
            Interval(Integral, None, None, closed="neither"),
            None,
        ],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0, 0.5, closed="right")],
        "n_neighbors": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "n_typical": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "scale": [StrOptions({*KINDS, OPEN}), Scaling, None],
        "complement": ["boolean", StrOptions({"auto"})],
        "missing": [StrOptions({"refuse", "allow", "unstored"})],
        "forget": [Interval(Real, 0, None, closed="neither"), None],
        "device": [str, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = None,
        *,
        contamination: float | Literal["auto"] = "auto",
        n_neighbors: int | Literal["auto"] = "auto",
        n_typical: int = 256,
        max_iter: int = 30,
        scale: str | Scaling | None = OPEN,
        complement: bool | Literal["auto"] = "auto",
        missing: Literal["refuse", "allow", "unstored"] = "refuse",
        forget: float | None = None,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.contamination = contamination
        self.n_neighbors = n_neighbors
        self.n_typical = n_typical
        self.max_iter = max_iter
        self.scale = scale
        self.complement = complement
        self.missing = missing
        self.forget = forget
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # Training

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn what is normal from X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Raw data in their own units: whatever :class:`lrnn.LRNNAutoencoder` takes.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more: a weight of 2 counts a row twice, one of 0 leaves it
            out.

        Returns
        -------
        self : LRNNOutlierDetector
            The model itself, trained.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> LRNNOutlierDetector(2, random_state=0).fit(X).predict([[0.5, 0.5, 0.5, 90]])
        array([-1])
        """
        self._fit(X, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, sample_weight: Any) -> tuple[Rows, Floats | None]:
        """Be fitted on X, which it gives as rows with their weights."""
        rows, weights = self._rows(X, sample_weight, reset=True)
        count = rows.shape[0] if weights is None else np.count_nonzero(weights)
        if count < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least 2 rows, some of which are held out, and "
                f"got n_samples={count}"
            )
        self._random = check_random_state(self.random_state)
        if self.missing == "allow" and self.filling_ is None:  # cells of new rows may be missing
            self._learn_to_fill(rows, weights)
        hidden, path = self._hidden(rows, weights)
        given = weights
        if self._small(rows):
            rows = rows.in_memory()
            alike = self._all_alike(rows, weights)
            autoencoder = self._autoencoder(hidden)
            autoencoder._fit(self._coded(alike.cells), sample_weight=alike.weights)
            normality, grouped = self._normality(autoencoder, HostRows(alike.cells), alike.weights)
            held = self._held_out_in_turn(alike, hidden, normality, grouped)
        else:
            left_out = self._chosen(rows, weights)
            weights = np.ones(rows.shape[0]) if weights is None else weights.copy()
            of_held, weights[left_out] = weights[left_out], 0
            autoencoder = self._autoencoder(hidden)
            autoencoder._fit(rows, sample_weight=weights)
            normality, _ = self._normality(autoencoder, attributes_of(rows), weights)
            cells = np.concatenate([*taken(attributes_of(rows), left_out)])
            held = HeldOut(normality.measured_on_host(cells, _known(rows, left_out)), of_held)
        self._settle(autoencoder, normality, held, path, (rows, given))
        return rows, given

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X, one more part of a stream; no part is needed again.

        Each part is measured before it is learnt: these are the scores that p-values and
        ``offset_`` come from. (Of the first part, they are found as :meth:`fit` does.) The network
        learns from the second moment of all rows so far, typical rows are condensed again, and
        all of it forgets as ``forget`` says.

        Parameters
        ----------
        X : as for :meth:`fit`
            Rows; as many as you like, but at least 2 in the first part, whose columns' ranges are
            the scale of all.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs.

        Returns
        -------
        self : LRNNOutlierDetector
            The model itself, which has learnt from X, too.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((400, 4))
        >>> model = LRNNOutlierDetector(random_state=0)
        >>> len(model.partial_fit(X[:200]).partial_fit(X[200:]).held_out_scores_)
        400
        """
        if not hasattr(self, "autoencoder_"):
            return self._begin(X, sample_weight)
        if not hasattr(self, "_random"):  # it was read from a file
            self._random = check_random_state(self.random_state)
        rows, weights = self._rows(X, sample_weight, reset=False)
        each = np.ones(rows.shape[0]) if weights is None else weights
        passed = 1.0 if self.forget is None else 0.5 ** (float(each.sum()) / self.forget)
        there = each > 0
        new = HeldOut(self._normality_.measured(rows)[there], each[there])
        self.autoencoder_.partial_fit(rows, sample_weight=weights)
        own = self._normality_.typical
        if own is not None:
            how = self.n_typical, self._opened, self._random
            own = own * passed + Grouped.of(attributes_of(rows), each, *how).typical
            if len(own) > 2 * self.n_typical:
                own = own.condensed(self.n_typical, self._random)
        count = self._seen(own, float(each.sum()), passed)
        normality = replace(
            self._normality_,
            weights=self.autoencoder_.weights_,
            typical=own,
            neighbours=neighbours_for(self.n_neighbors, self.contamination, count),
        )
        self._settle(self.autoencoder_, normality, self._held * passed + new, self.width_path_)
        return self

    def _begin(self, X: Any, sample_weight: Any) -> Self:
        """The first part of a stream: fitted as any rows, and with a moment to go on from."""
        rows, weights = self._fit(X, sample_weight)
        autoencoder = self._autoencoder(self.autoencoder_.hidden_layer_sizes)
        autoencoder.partial_fit(rows, sample_weight=weights)
        normality = replace(self._normality_, weights=autoencoder.weights_)
        self._settle(autoencoder, normality, self._held, self.width_path_)
        return self

    def _seen(self, typical: Any, new: float, passed: float) -> float:
        """How many rows count so far."""
        if typical is not None:
            return float(typical.weight)
        return float(self._held.weights.sum()) * passed + new

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool) -> tuple[Rows, Floats | None]:
        """X as rows, with weights if there are any; those without count for nothing at all.

        The network knows the names of attributes, too.
        """
        if sample_weight is not None and reset:
            some = np.empty(_count(X))
            X, _, sample_weight = counted(X, some, sample_weight)
        rows = check_data(self, X, reset=reset, sample_weight=sample_weight)
        attributes_of(rows).columns = getattr(self, "feature_names_in_", None)
        return rows, weighted(rows, sample_weight, relative=False).of_rows

    def _complements(self, scaling: Scaling | None) -> bool:
        """Whether attributes are presented beside their complements, whatever a scaling says."""
        if self.complement == "auto":
            return scaling is None or scaling.kind != "max"
        return bool(self.complement)

    def _learnt_filling(self, rows: HostRows | WeightedRows) -> Filling:
        """What fills the gaps of rows to train on."""
        if rows.shape[0] < FEW_TO_FILL * rows.shape[1]:
            warn(
                f"what missing cells are filled with was learnt from {rows.shape[0]} rows, which "
                f"is little for {rows.shape[1]} attributes"
            )
        return learn_filling(rows, getattr(self, "feature_names_in_", None))

    def _learn_to_fill(self, rows: Rows, weights: Floats | None) -> None:
        """What missing cells of new rows are filled with, from complete rows in memory."""
        own = attributes_of(rows)
        if isinstance(own, HostRows) and not own.stored_sparse and own.white is None:
            self.filling_ = learn_filling(
                own if weights is None else WeightedRows(own, weights),
                getattr(self, "feature_names_in_", None),
            )

    @property
    def _opened(self) -> bool:
        return self.scaling_ is not None and self.scaling_.kind == OPEN

    @property
    def _complemented(self) -> bool:
        return self.scaling_ is not None and self.scaling_.complemented

    def _coded(self, attributes: Floats) -> Rows:
        """Attributes in memory as the network is given them."""
        return HostRows(complement_pairs(attributes) if self._complemented else attributes)

    def _small(self, rows: Rows) -> bool:
        """Whether all rows are held out in turn, in memory."""
        count = rows.shape[0]
        return count <= FEW and count * self.n_features_in_ <= FEW_CELLS

    def _hidden(self, rows: Rows, weights: Floats | None) -> tuple[Any, WidthPath | None]:
        """Widths of the hidden layers: those given, or a good one, and how it was found."""
        if self.hidden_layer_sizes is not None:
            return check_layer_sizes(self.hidden_layer_sizes, self.n_features_in_), None
        numbers = np.arange(rows.shape[0]) if weights is None else np.flatnonzero(weights)
        if len(numbers) > ROWS_TO_TRY:
            numbers = np.sort(self._random.permutation(numbers)[:ROWS_TO_TRY])
        sample = np.concatenate([*taken(attributes_of(rows), numbers)])
        sample = np.unique(sample, axis=0)  # however often, and in whatever order, they come
        tried = candidates(self.n_features_in_, len(sample))
        if len(tried) < 2 or len(sample) < 2:
            return (tried[0],), None
        seed = self._random.randint(1 << 31)
        path = widths(sample, tried, folds=1, max_iter=10, tol=0.0, random_state=seed)
        return (path.suggested.width,), path

    def _autoencoder(self, hidden: Any) -> LRNNAutoencoder:
        """The network to be trained, for rows that are in [0, 1] already."""
        found = LRNNAutoencoder(
            hidden,
            max_iter=self.max_iter,
            tol=0.0,
            moment="dense" if 2 * self.n_features_in_ <= NARROW else "auto",
            forget=self.forget,
            device=self.device,
            random_state=self._random.randint(1 << 31),
            verbose=self.verbose,
        )
        found.scale = found.scaling_ = self.scaling_
        found.white_, found.filling_ = self.white_, self.filling_
        found.missing = self.missing
        return found

    def _normality(
        self, autoencoder: LRNNAutoencoder, attributes: Rows, weights: Floats
    ) -> tuple[Normality, Grouped | None]:
        """What is normal, by a network that was trained on these rows, and groups of them."""
        grouped, count = None, float(np.count_nonzero(weights))
        if self._counts(weights):
            count = float(weights.sum())
        each = weights * (count / weights.sum())
        if self.n_typical:
            how = self.n_typical, self._opened, self._random
            grouped = Grouped.of(attributes, each, *how)
        near = neighbours_for(self.n_neighbors, self.contamination, count)
        typical = None if grouped is None else grouped.typical
        known = Normality(autoencoder.weights_, typical, near, self._opened, self._complemented)
        return known, grouped

    @staticmethod
    def _counts(weights: Floats) -> bool:
        """Whether weights are numbers of rows."""
        return bool((weights == np.round(weights)).all())

    # Rows that are held out

    def _all_alike(self, rows: Rows, weights: Floats | None) -> "Alike":
        """Rows in memory, each of them once, with how often it occurs, in an order of their own.

        So a row that is there twice is learnt as one that weighs 2, and held out as a whole.
        """
        numbers = np.arange(rows.shape[0])
        cells = np.concatenate([*taken(attributes_of(rows), numbers)])
        known = _known(rows, numbers)
        each = np.ones(len(cells)) if weights is None else weights
        there = each > 0
        both = cells if known is None else np.concatenate([cells, known], axis=1)
        alike, where = np.unique(both[there], axis=0, return_inverse=True)
        total = np.bincount(np.ravel(where), weights=each[there]).astype(np.float64)
        width = cells.shape[1]
        own = np.ascontiguousarray(alike[:, :width]).astype(host_dtype(rows.dtype), copy=False)
        return Alike(own, total, None if known is None else alike[:, width:] > 0)

    def _held_out_in_turn(
        self, alike: Alike, hidden: Any, normality: Normality, grouped: Grouped | None
    ) -> HeldOut:
        """Measure each row by what is learnt from the others.

        Networks are trained without a part of the rows. Distances of few rows are taken from
        typical rows as they are without the row itself, those of more from typical rows that are
        made without that part.
        """
        cells, weights, known = alike.cells, alike.weights, alike.known
        count = len(cells)
        parts, wider = normality.measured_on_host(cells, known), None
        one_by_one = grouped is None or count <= ONE_BY_ONE
        if grouped is not None and one_by_one:
            apart, wider = grouped.measured(normality.neighbours, normality.opened, known)
            parts[grouped.numbers, 1] = apart
        folds = min(count, FOLDS if count > FEW_ROWS else FOLDS_OF_FEW)
        order = self._random.permutation(count)
        for fold in range(folds if count > 1 else 0):
            test = np.sort(order[fold::folds])
            train = np.setdiff1d(order, test)
            autoencoder = self._autoencoder(hidden)
            autoencoder.device, autoencoder.verbose = None, 0
            there = self._coded(cells[train].astype(np.float32))
            autoencoder._fit(there, sample_weight=weights[train])
            own = wider[test] if wider is not None else None if known is None else known[test]
            if one_by_one:
                network = replace(normality, weights=autoencoder.weights_, typical=None)
                parts[test, 0] = network.measured_on_host(cells[test], own)[:, 0]
            else:
                others, _ = self._normality(autoencoder, HostRows(cells[train]), weights[train])
                parts[test] = others.measured_on_host(cells[test], own)
        return HeldOut(parts, weights)

    def _chosen(self, rows: Rows, weights: Floats | None) -> NDArray[np.int64]:
        """Rows of many that are held out."""
        there = np.arange(rows.shape[0]) if weights is None else np.flatnonzero(weights)
        return np.sort(self._random.permutation(there)[: min(HELD_OUT, len(there) // SHARE)])

    # What follows from it

    def _settle(
        self,
        autoencoder: LRNNAutoencoder,
        normality: Normality,
        held: HeldOut,
        path: WidthPath | None,
        learnt: tuple[Rows, Floats | None] | None = None,
    ) -> None:
        """Where the line is drawn between normal rows and others, and be that model."""
        near = normality.typical is not None
        scores = strangeness(held.parts, held.scales, near)
        if self.contamination == "auto":
            line = _line(scores, held.weights, LEVEL)
            _tell_of_few(float(held.weights.sum()))
        else:
            own, weights = scores, held.weights
            if learnt is not None:
                rows, given = learnt
                own = strangeness(normality.measured(rows), held.scales, near)
                weights = np.ones(len(own)) if given is None else given
            line = -_percentile(-own, weights, float(self.contamination))
        beyond = float(held.weights[scores > line].sum() / held.weights.sum())
        if self.contamination != "auto" and learnt is not None:
            self._tell_of_rate(beyond, len(scores))
        self._become(FittedDetector(autoencoder, normality, held, -line, beyond, path))

    def _tell_of_rate(self, share: float, count: int) -> None:
        """Rows that were learnt from look more normal than others; that may be by much."""
        asked = float(self.contamination)
        if binom.sf(round(share * count) - 1, count, asked) < SURE:
            warn(
                SettingWarning(
                    f"{100 * asked:.3g} % of the rows that were learnt from are called outliers "
                    f"({{contamination={asked:g}}}), and {100 * share:.3g} % of {count:,} such "
                    "rows when they were held out: so many are to be expected of new rows. Give "
                    "{contamination=auto}, or judge by p_values, which are those of new rows"
                )
            )

    def _become(self, fitted: FittedDetector) -> None:
        """Be this model: after training, and when it is read from a file."""
        self.autoencoder_ = fitted.autoencoder
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            self.autoencoder_.feature_names_in_ = names
        self.autoencoder_.n_features_in_ = self.n_features_in_
        weights = fitted.autoencoder.weights_
        self._normality_ = replace(fitted.normality, weights=weights).on(HOST)
        self._held = fitted.held_out
        self.offset_ = fitted.offset
        self.flagged_share_ = fitted.flagged_share
        self.width_path_ = fitted.width_path
        self.n_iter_ = fitted.autoencoder.n_iter_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "autoencoder_")

    @property
    def held_out_scores_(self) -> Floats:
        """What ``score_samples`` was for rows that were held out, in ascending order."""
        return np.sort(self._held_out)

    @property
    def held_out_weights_(self) -> Floats:
        """How many rows each of ``held_out_scores_`` is that of: rows that are alike are one."""
        return self._held.weights[np.argsort(self._held_out)]

    @property
    def _held_out(self) -> Floats:
        """Scores of rows that were held out, as they came."""
        near = self._normality_.typical is not None
        return -strangeness(self._held.parts, self._held.scales, near)

    @property
    def typical_rows_(self) -> Floats | None:
        """Typical rows, in the units of the data."""
        typical = self._normality_.typical
        if typical is None:
            return None
        coded = self._normality_._from_evidence(to_numpy(typical.centres).astype(np.float64))
        return self._in_units(coded)

    @property
    def typical_counts_(self) -> Floats | None:
        """How many rows each typical row stands for."""
        typical = self._normality_.typical
        return None if typical is None else to_numpy(typical.counts).astype(np.float64)

    def _in_units(self, coded: Floats) -> Floats:
        """Attributes in [0, 1] in the units of the data."""
        found = coded
        if self.scaling_ is not None:
            found = replace(self.scaling_, recipe=None, seen=None).revert(coded)
        return np.asarray(found) * (self.white_ or 1)

    # Judging rows

    def score_samples(self, X: Any) -> Floats:
        """How normal rows are: minus their strangeness, which is about 1 for a usual row.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            At most 0: the higher, the more normal.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> model = LRNNOutlierDetector(random_state=0).fit(X)
        >>> near, far = model.score_samples([[0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 5.0]])
        >>> bool(near > far)
        True
        """
        check_is_fitted(self)
        return self._scored(check_data(self, X, reset=False))

    def _scored(self, rows: Rows) -> Floats:
        parts = self._normality_.measured(rows)
        if len(unknown := without_a_known_cell(rows)):
            warn(
                UnknownRowsWarning(
                    f"no cell of {len(unknown):,} rows is known, the first of which is {{at}}: "
                    "nothing strange can be said of them",
                    at=Place(int(unknown[0])),
                )
            )
        return -strangeness(parts, self._held.scales, self._normality_.typical is not None)

    def decision_function(self, X: Any) -> Floats:
        """``score_samples(X) - offset_``: below 0 for outliers.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.

        Returns
        -------
        decisions : ndarray of shape (n_samples,)
            The lower, the stranger.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> model = LRNNOutlierDetector(random_state=0).fit(X)
        >>> bool(model.decision_function([[0.5, 0.5, 0.5, 5.0]])[0] < 0)
        True
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 for normal rows, -1 for outliers.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.

        Returns
        -------
        verdicts : ndarray of shape (n_samples,)
            1 or -1.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> LRNNOutlierDetector(random_state=0).fit(X).predict([[0.5, 0.5, 0.5, 5.0]])
        array([-1])
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: Any) -> Floats:
        """Of how large a share of normal rows are as strange as each of these, at least.

        That is (1 + the number of held-out rows that are as strange) / (1 + their number): a
        conformal p-value. Of normal rows a share of at most α has one of α or below, on average
        over training rows and new ones.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            Above 0, at most 1.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((99, 4))
        >>> LRNNOutlierDetector(random_state=0).fit(X).p_values([[0.5, 0.5, 0.5, 5.0]])
        array([0.01])
        """
        return self._p_values(self.score_samples(X))

    def _p_values(self, scores: Floats) -> Floats:
        total = np.concatenate([[0.0], np.cumsum(self.held_out_weights_)])
        as_strange = total[np.searchsorted(self.held_out_scores_, scores, side="right")]
        found: Floats = (1 + as_strange) / (1 + total[-1])
        return found

    def explain(self, X: Any) -> Explanation:
        """What makes each row strange: how much each attribute counts, and what was expected.

        Parameters
        ----------
        X : as for :meth:`fit`
            Rows that fit in memory.

        Returns
        -------
        explanation : Explanation
            A table of the strangest of them; `lrnn.plots.explanation` draws one.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((200, 1)) * [1.0, 2.0, 3.0]
        >>> model = LRNNOutlierDetector(random_state=0).fit(X)
        >>> found = model.explain([[0.5, 7.0, 1.5]])
        >>> bool(np.isclose(found.contributions.sum(), -model.score_samples([[0.5, 7, 1.5]])[0]))
        True
        >>> found.strongest(0)[0]
        1
        """
        check_is_fitted(self)
        rows = check_data(self, X, reset=False)
        scores = self._scored(rows)
        numbers = np.arange(rows.shape[0])
        cells = np.concatenate([*taken(attributes_of(rows), numbers)])
        known = _known(rows, numbers)
        counts, expected = self._normality_.explained(cells, self._held.scales, known)
        raw = raw_matrix(X, self.scaling_, self.missing == "unstored")
        values = raw if raw is not None and raw.shape == cells.shape else self._in_units(cells)
        if known is not None:
            values = np.where(known, values, np.nan)
        dropped = () if rows.ledger is None else rows.ledger.dropped
        kept = np.delete(np.arange(len(cells) + len(dropped)), dropped)
        names, counts, shown, wanted = self._by_column(counts, cells, values, expected)
        return Explanation(
            names, kept, -scores, self._p_values(scores), scores < self.offset_,
            counts, shown, wanted,
        )  # fmt: skip

    def _by_column(
        self, counts: Floats, cells: Floats, values: Any, expected: Floats
    ) -> tuple[tuple[str, ...], Floats, list[NDArray[Any]], list[NDArray[Any]]]:
        """What attributes count, column by column of the table, and in its own words."""
        recipe = None if self.scaling_ is None else self.scaling_.recipe
        units = self._in_units(expected)
        if recipe is None:
            given = getattr(self, "feature_names_in_", None)
            width = counts.shape[1]
            names = [f"column {i + 1}" for i in range(width)] if given is None else list(given)
            return tuple(map(str, names)), counts, list(np.asarray(values).T), list(units.T)
        assert self.scaling_ is not None
        frames = [self.scaling_.to_frame(coded) for coded in (cells, expected)]
        ends = np.cumsum([len(column.attributes) for column in recipe.columns])
        starts = ends - [len(column.attributes) for column in recipe.columns]
        shown: list[NDArray[Any]] = []
        wanted: list[NDArray[Any]] = []
        for column, first, cell, best in zip(
            recipe.columns, starts, *(frame.columns for frame in frames), strict=True
        ):
            if column.values is None:
                shown.append(np.asarray(values)[:, first])
                wanted.append(best)
                continue
            own = slice(first, first + len(column.attributes))
            none = cells[:, own].max(axis=1) <= self._half  # text that training has not seen
            shown.append(np.where(none, "(none of those seen)", np.asarray(cell, dtype=object)))
            wanted.append(worded(units[:, own], column.values))
        summed = np.add.reduceat(counts, starts, axis=1)
        return tuple(str(c.name) for c in recipe.columns), summed, shown, wanted

    @property
    def _half(self) -> float:
        """Up to which an attribute in [0, 1] says that a text is not there."""
        return 0.5

    # The network

    def to_network(self, least_rate: float = 1.0, *, part: Part = "all") -> RandomNeuralNetwork:
        """The random neural network that gives normal rows back.

        Parameters
        ----------
        least_rate : float, default=1.0
            No neuron fires more slowly than this; see :meth:`lrnn.LRNNAutoencoder.to_network`.
        part : {"all", "encoder", "decoder"}, default="all"
            The whole network, or a part of it.

        Returns
        -------
        network : RandomNeuralNetwork
            With a neuron for each attribute (and each complement), hidden neuron and output.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> LRNNOutlierDetector(2, random_state=0).fit(X).to_network()
        RandomNeuralNetwork(18 neurons in layers 8 → 2 → 8, ... connections)
        """
        check_is_fitted(self)
        return self.autoencoder_.to_network(least_rate, part=part)

    def arrivals(self, X: Any, network: RandomNeuralNetwork | None = None) -> Floats:
        """External arrival rates at every neuron of a network that present X to it.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.
        network : RandomNeuralNetwork, optional
            What :meth:`to_network` gave; by default, what it gives without arguments.

        Returns
        -------
        arrivals : ndarray of shape (n_samples, n_neurons)
            Spikes per unit time; 0 behind the first layer.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> LRNNOutlierDetector(2, random_state=0).fit(X).arrivals(X).shape
        (100, 18)
        """
        check_is_fitted(self)
        return self.autoencoder_.arrivals(self._for_network(X), network)

    def audit(self, X: Any = None) -> Audit:
        """Whether the network is a valid one; see :meth:`lrnn.LRNNAutoencoder.audit`.

        Parameters
        ----------
        X : as for :meth:`fit`, optional
            The data.

        Returns
        -------
        audit : Audit
            To be printed, or asked whether the network is ``valid``.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNOutlierDetector
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> LRNNOutlierDetector(2, random_state=0).fit(X).audit(X).valid
        True
        """
        check_is_fitted(self)
        return self.autoencoder_.audit(None if X is None else self._for_network(X))

    def _for_network(self, X: Any) -> Rows:
        return self._rows(X, None, reset=False)[0]

    # A door to a room above

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a safetensors file; :func:`lrnn.load` reads it back.

        Parameters
        ----------
        path : str or path-like
            The file. It is replaced as a whole, or not at all.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import lrnn
        >>> X = np.random.default_rng(0).random((100, 4))
        >>> model = lrnn.LRNNOutlierDetector(random_state=0).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.safetensors")
        ...     again = lrnn.load(f"{folder}/model.safetensors")
        >>> bool((again.score_samples(X) == model.score_samples(X)).all())
        True
        """
        from lrnn.storage.model_files import save

        check_is_fitted(self)
        save(self, path)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.input_tags.positive_only = self.scale in (None, "none", "levels", "max")
        return tags


def candidates(attributes: int, rows: int) -> list[int]:
    """Widths to be tried: halves, quarters and so on of the attributes, none above 64.

    >>> candidates(784, 1000), candidates(9, 200), candidates(2, 50), candidates(1, 50)
    ([13, 25, 49], [2, 3, 5], [1], [1])
    """
    most = max(1, min(WIDEST, attributes - 1, rows // 2))
    shares = {-(-attributes // 2**i) for i in range(1, 1 + max(1, attributes.bit_length()))}
    fitting = sorted(width for width in shares if width <= most) or [most]
    lowest = max(1, attributes // 64)
    return [width for width in fitting if width >= lowest][-TRIED:] or fitting[-1:]


def _median(numbers: Floats, weights: Floats) -> float:
    """The number in the middle; the mean, if that is 0."""
    order = np.argsort(numbers, kind="stable")
    total = np.cumsum(weights[order])
    middle = float(numbers[order][np.searchsorted(total, total[-1] / 2)])
    return middle or float(np.average(numbers, weights=weights))


def share_beyond(model: LRNNOutlierDetector) -> float:
    """Of how many normal rows it is to be expected that they are called outliers.

    Where no held-out row is beyond the line, that is as many as may be beyond all of these.
    """
    return max(model.flagged_share_, 1 / (1 + float(model.held_out_weights_.sum())))


def _tell_of_few(count: float) -> None:
    """So few rows do not tell what only one in twenty normal rows is like."""
    needed = ceil(1 / LEVEL) - 1
    if count < needed:
        least = 1 / (1 + count)
        warn(
            SettingWarning(
                f"{count:.0f} rows were held out, of which no p-value is below {least:.2g}, and "
                f"so none at most {LEVEL:g}: a row is called an outlier if it is stranger than "
                f"all of them, as about {100 * least:.2g} % of normal rows are. From {needed} "
                f"rows on it is {100 * LEVEL:g} %"
            )
        )


def _line(scores: Floats, weights: Floats, level: float) -> float:
    """Above which a p-value is at most ``level``, or as low as so few rows allow."""
    order = np.argsort(-scores, kind="stable")
    beyond = np.cumsum(weights[order])
    allowed = max(level * (1 + beyond[-1]) - 1, 0.0)  # as strange, besides the row itself
    first = int(np.searchsorted(beyond, allowed, side="right"))
    return float(scores[order][min(first, len(scores) - 1)])


def _percentile(scores: Floats, weights: Floats, share: float) -> float:
    """Between the strangest rows of this share of all, and the others."""
    order = np.argsort(scores, kind="stable")
    repeated = np.cumsum(weights[order])
    at = share * (repeated[-1] - 1)
    below = min(int(np.searchsorted(repeated, at, side="right")), len(scores) - 1)
    above = min(int(np.searchsorted(repeated, at + 1, side="right")), len(scores) - 1)
    low, high = scores[order][below], scores[order][above]
    return float(low + (high - low) * (at - np.floor(at)))


def _known(rows: Rows, numbers: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Which cells of these rows are known; None if all are."""
    if rows.gaps is None:
        return None
    return np.asarray(~np.isnan(to_numpy(attributes_of(rows.gaps).take(numbers))))


def _count(X: Any) -> int:
    """How many rows there are, of what is in memory."""
    try:
        return int(num_samples(X))
    except TypeError:
        return 0
