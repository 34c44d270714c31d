"""The classifier as a scikit-learn estimator: classes as shares of a network's output spikes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, check_random_state, compute_class_weight
from sklearn.utils.validation import check_is_fitted

from lrnn.analysis.audit import Audit, Recognised, audit
from lrnn.arrays import HOST, Array, Floats, Layer, host_dtype, is_array, like, to_numpy
from lrnn.estimators.autoencoder import LRNNAutoencoder, warn_if_interrupted
from lrnn.functional.shares import log_spikes, shares
from lrnn.moments import Corruption, Dropout
from lrnn.network import RandomNeuralNetwork
from lrnn.network.weights import (
    Weights,
    activations,
    arrivals_at,
    excitatory_part,
    on_backend,
    through,
    transmit,
    widest,
)
from lrnn.rows import Rows, held
from lrnn.rows.validation import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    check_data,
    check_labels,
    counted,
    fit_context,
    for_frames,
    labels_of,
    weighted,
)
from lrnn.tables.messages import SettingError, SettingWarning, warn
from lrnn.tables.reading import Reading
from lrnn.tables.scaling import KINDS, Scaling
from lrnn.training import (
    Labels,
    LearningCurve,
    Observer,
    Recognition,
    Run,
    Settings,
    Trained,
    brightest,
    ever_saturated,
    first_weights,
    passes_for,
    recognise,
    train_recognition,
    watching,
)
from lrnn.training.parameters import check_layer_sizes, held_out_rows, no_row_left

if TYPE_CHECKING:
    from lrnn.analysis.decisions import Decisions
    from lrnn.live import LivePage

PARTS = 1_000  # of a stream, of which history_ tells: the last ones

Watch = Callable[[Rows, Labels, NDArray[Any]], AbstractContextManager[Observer]]


@dataclass(frozen=True)
class FittedClassifier:
    """What makes a classifier a fitted one, whether it was trained or read from a file."""

    weights: Weights
    classes: NDArray[Any]
    history: Sequence[LearningCurve]
    n_iter: int
    loss: float
    layer_spike_costs: Floats
    frozen: int = 0  # of the first layers, that stay as they are


class LRNNClassifier(
    CallbackSupportMixin,  # type: ignore[misc]
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    ClassifierMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    r"""Classifier that is also a random neural network.

    Data in [0, 1] drive a feed-forward spiking network,
    :math:`q_l = \min(q_{l-1} A^+_l / (1 + q_{l-1} A^-_l), 1)`, that ends in one neuron for each
    class. The probability of a class is its neuron's share of the output spikes,
    :math:`q_c / \sum_k q_k`; where nothing fires, shares are equal. All weights are nonnegative,
    and the network is a valid random neural network (:meth:`to_network`) whose spikes, counted,
    decide.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=(300,)
        Widths of the hidden layers; of those behind the encoder, with ``pretrain`` (then there may
        be none).
    inhibition : bool, default=True
        Whether neurons may also inhibit each other. Without it the network is linear but for
        saturation, and recognises little.
    spike_penalty : float, default=0.0
        What is minimised is the mean cross-entropy plus this times the mean logarithm of the
        firings per output spike (:meth:`spikes_per_decision`). 0.01 is a moderate price.
    pretrain : LRNNAutoencoder, optional
        A fitted autoencoder, whose encoder is the first layers. Put it into
        `sklearn.frozen.FrozenEstimator` where the classifier is cloned, as in a
        cross-validation: a clone of a fitted model is not fitted.
    freeze : bool, default=False
        Whether these layers stay as they are; by default they are trained further.
    batch_size : int, default=100
        Rows in a minibatch.
    max_iter : int, optional
        Most passes over the data. By default 40, or as many as make 200 steps.
    tol : float, default=1e-4
        When the loss has fallen by less than this share during a tenth of the passes (but at least
        five), steps become smaller, and the next time training ends. 0 never ends it.
    label_smoothing : float, default=0.0
        The share of a row's weight that is given to all classes alike in training. 0.1 keeps a
        network from being too sure, and from firing too many spikes for it.
    class_weight : dict or "balanced", optional
        What rows of each class weigh, besides ``sample_weight``; "balanced" lets all classes weigh
        the same.
    early_stopping : bool, default=False
        Hold out rows of each class: the weights with the lowest loss on these are kept. The losses
        of ``history_`` are then those on the rows held out.
    validation_fraction : float, default=0.1
        Share of the rows that is held out.
    corruption : ("mask", float) or ("noise", float), optional
        Learn from corrupted rows: cells become 0 with this probability, or get Gaussian noise of
        this standard deviation, anew in each step. ("mask", 0.2) keeps a wide network from learning
        images by heart.
    dropout : float, default=0.0
        Hidden neurons are silent with this probability, others for each row in each step of
        training. 0.4 keeps wide layers from relying on single neurons.
    steps : {"auto", "roots", "logarithms"}, default="auto"
        On which scale weights, which are positive, are learnt. On square roots they are less apt to
        learn rows by heart, and to fire many spikes; on logarithms they learn faster, which is
        better where something holds them back: "auto" takes these where spikes have a price or
        inputs get noise, and roots otherwise.
    scale : {"auto", "minmax", "max", "levels", "none"} or Scaling, default="auto"
        How raw data get into [0, 1]. "auto" takes such data, and levels, as they are, and scales
        others by the range of each column; the rest is as for :class:`lrnn.LRNNAutoencoder`.
    complement : {"auto", True, False}, default="auto"
        Whether each attribute x, in [0, 1], is presented beside 1 − x, to a network of twice as
        many inputs. A network has no bias, and low numbers excite nothing: without it a threshold
        is hardly learnt. "auto" does so where ``scale`` is made of X and scales columns by their
        range, as it does with raw tables; not with data that are in [0, 1] already, such as images,
        nor with sparse ones. Where ``scale`` is a Scaling, "auto" does as that says:
        ``Scaling.fit(X, "minmax")`` shows x alone, also where ``scale="minmax"`` would not, and
        ``Scaling.fit(X, "minmax", complement=True)`` shows both. With ``pretrain`` it is as there.
        (``scaling_`` shows it.)
    device : str, optional
        "cuda" (or "cuda:1" …) sends NumPy data to a GPU, and brings results back. By default work
        is done where the data are.
    random_state : int, RandomState instance or None, default=None
        Determines the initial weights, the minibatches and the rows held out; a number also what
        becomes of corrupted rows.
    verbose : int, default=0
        Show a progress bar if above 0.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the output neurons.
    weights_ : Weights
        All weights, as a value that knows its firing rates, its spikes and its network.
    firing_rates_ : list of ndarray
        Firing rates that the weights need of every layer's neurons; the output layer's are 1.
    spike_cost_ : float
        Firings per unit time of the input and hidden layers at these rates, on average over the
        training data.
    layer_spike_costs_ : ndarray
        The same, for each of these layers.
    loss_ : float
        Mean cross-entropy of the training data as they are, each row with its weight.
    history_ : list of LearningCurve
        Losses on each minibatch, with the price of spikes, and after each pass, without: those that
        training sees, of corrupted rows and smoothed labels. One curve, and one more for each
        :meth:`partial_fit`.
    n_iter_ : int
        Passes over the data.
    n_features_in_ : int
        Number of attributes.
    feature_names_in_ : ndarray of str
        Their names, where the data had names.
    scaling_ : Scaling or None
        How raw data get into [0, 1], if the model does that itself.
    white_ : float or None
        The level that is 1, if it was fitted on levels.

    Notes
    -----
    What is beyond the range of training is cut off, with a warning; unsigned 8- and 16-bit integers
    are read as levels, of which 255 (65,535) is 1. A network has no bias: a row of zeros makes no
    spike, and all classes are equally probable. Tables in [0, 1] are better seen with
    ``complement=True``, for the same reason. Ctrl-C ends the training and keeps the best weights so
    far.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import LRNNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LRNNClassifier(50, max_iter=10, random_state=0).fit(X[:1000] / 16, y[:1000])
    >>> model.score(X[1000:] / 16, y[1000:]) > 0.85
    True
    >>> model.to_network()
    RandomNeuralNetwork(124 neurons in layers 64 → 50 → 10, ... connections)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "hidden_layer_sizes": ["array-like", Interval(Integral, None, None, closed="neither")],
        "inhibition": ["boolean"],
        "spike_penalty": [Interval(Real, 0, None, closed="left")],
        "pretrain": [LRNNAutoencoder, FrozenEstimator, None],
        "freeze": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "corruption": [tuple, list, None],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "steps": [StrOptions({"auto", "roots", "logarithms"})],
        "scale": [StrOptions(set(KINDS)), Scaling, None],
        "complement": ["boolean", StrOptions({"auto"})],
        "device": [str, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (300,),
        *,
        inhibition: bool = True,
        spike_penalty: float = 0.0,
        pretrain: LRNNAutoencoder | FrozenEstimator | None = None,
        freeze: bool = False,
        batch_size: int = 100,
        max_iter: int | None = None,
        tol: float = 1e-4,
        label_smoothing: float = 0.0,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        corruption: tuple[str, float] | None = None,
        dropout: float = 0.0,
        steps: Literal["auto", "roots", "logarithms"] = "auto",
        scale: str | Scaling | None = "auto",
        complement: bool | Literal["auto"] = "auto",
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.inhibition = inhibition
        self.spike_penalty = spike_penalty
        self.pretrain = pretrain
        self.freeze = freeze
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.label_smoothing = label_smoothing
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.corruption = corruption
        self.dropout = dropout
        self.steps = steps
        self.scale = scale
        self.complement = complement
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # Training

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X and the labels y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data, best scaled to [0, 1] (see ``scale``): arrays of NumPy, SciPy, pandas,
            torch and CuPy, or the name of a file and whatever else :class:`lrnn.LRNNAutoencoder`
            takes, if it can be read in any order or fits into a buffer of 1 GiB.
        y : array-like of shape (n_samples,)
            Labels: numbers or text.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more.

        Returns
        -------
        self : LRNNClassifier
            The model itself, trained.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> LRNNClassifier(3, max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5).classes_
        array([False,  True])
        """
        self._fit(X, y, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any = None, watch: Watch | None = None) -> None:
        """Train; ``watch`` is told of the rows, the labels and the classes before it begins."""
        found = check_labels(self, y)
        classes = np.unique(found)
        rows, labels = self._labelled(X, found, classes, sample_weight, reset=True)
        self._random = check_random_state(self.random_state)
        settings = self._settings(rows)
        _warn_of_noise(rows, settings)
        start = self._start(rows, len(classes), settings)
        soft = replace(labels, smoothing=self.label_smoothing)
        watched = nullcontext(Observer()) if watch is None else watch(rows, labels, classes)
        with watched as watcher:
            with watching(self, X, settings.max_iter, watcher, measure="cross-entropy") as observer:
                run = Run(settings, self._random, observer)
                frozen = self._layers_to_freeze()
                trained = train_recognition(rows, soft, start, run, frozen=frozen, cheap=True)
            evaluation = recognise(rows, labels, trained.weights)
            self._become(self._after(trained, evaluation, classes, frozen))
        warn_if_interrupted(trained)
        if len(classes) > 1:
            _warn_if_untrained(trained, start, settings)

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X and y, one more part of a stream, in one pass over it.

        Parameters
        ----------
        X : as for :meth:`fit`
            Rows; as many as you like, also one. ``spike_cost_`` and ``loss_`` are then those on X.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever come; the first part needs them.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more.

        Returns
        -------
        self : LRNNClassifier
            The model itself, which has learnt from X, too.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((200, 4))
        >>> y = X[:, 0] > 0.5
        >>> model = LRNNClassifier(3, random_state=0)
        >>> model = model.partial_fit(X[:100], y[:100], classes=[False, True])
        >>> model.partial_fit(X[100:], y[100:]).n_iter_
        2
        """
        first = not hasattr(self, "weights_")
        known = self._known_classes(classes, first)
        self._check_stream()
        rows, labels = self._labelled(X, check_labels(self, y), known, sample_weight, reset=first)
        if first and self._scales and isinstance(self.scale, str):
            warn(
                "the first part of the stream is not in [0, 1], and is scaled by its own range; "
                "what later parts have beyond it is cut off. Give scale=lrnn.Scaling.fit(X, ..., "
                f"complement={self._complements(self.scaling_)}) of data that show the range of all"
            )
        if not hasattr(self, "_random"):
            self._random = check_random_state(self.random_state)
        settings = replace(self._settings(rows), max_iter=1, held_out=0.0)
        start = self._start(rows, len(known), settings) if first else self._own(rows)
        soft = replace(labels, smoothing=self.label_smoothing)
        with watching(self, X, 1, measure="cross-entropy") as observer:
            run = Run(settings, self._random, observer)
            frozen = self._layers_to_freeze() if first else self._frozen
            trained = train_recognition(
                rows, soft, start, run, frozen=frozen, cheap=first, later=not first
            )
        fitted = self._after(trained, recognise(rows, labels, trained.weights), known, frozen)
        if not first:
            history = [*self.history_[1 - PARTS :], *fitted.history]
            fitted = replace(fitted, history=history, n_iter=self.n_iter_ + 1)
        self._become(fitted)
        warn_if_interrupted(trained)
        return self

    def _known_classes(self, classes: Any, first: bool) -> NDArray[Any]:
        if first and classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: all labels that will "
                "ever come, such as classes=np.unique(all_labels)"
            )
        known = self.classes_ if not first else np.unique(classes)
        if not first and classes is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(
                f"classes={classes!r:.100} is not the same as on the first call to partial_fit, "
                f"which was {known!r:.100}"
            )
        return np.asarray(known)

    def _check_stream(self) -> None:
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} needs all rows at once, and partial_fit has a "
                "part of them; give a dict of weights, which compute_class_weight of scikit-learn "
                "makes"
            )
        if isinstance(self.scale, str) and self.scale not in ("none", "auto"):
            seen = self._complements(Scaling(self.scale))
            complemented = ", complement=True" if seen else ""
            raise ValueError(
                f"scale={self.scale!r} would be made from the first part of a stream alone; give "
                f"scale=lrnn.Scaling.fit(X, {self.scale!r}{complemented}) of data that show the "
                "range of all"
            )

    @property
    def _scales(self) -> bool:
        """Whether data change on their way in."""
        return self.scaling_ is not None and self.scaling_.kind != "none"

    def _complements(self, scaling: Scaling | None) -> bool:
        """Whether attributes are presented beside their complements, whatever a scaling says."""
        if self.complement is False and isinstance(self.scale, Scaling) and self.scale.complemented:
            raise SettingError(
                "{complement=False}, but {scale} puts complements beside attributes; leave one of "
                "the two out"
            )
        if self.complement != "auto":
            return bool(self.complement)
        if isinstance(self.scale, Scaling):
            return False
        if self.pretrain is not None:
            before = getattr(self._pretrained, "scaling_", None)
            return before is not None and before.complemented
        return scaling is not None and scaling.kind == "minmax"

    def _labelled(
        self, X: Any, y: NDArray[Any], classes: NDArray[Any], sample_weight: Any, *, reset: bool
    ) -> tuple[Rows, Labels]:
        """Rows in memory that weigh anything, and their labels."""
        X, y, sample_weight = counted(X, y, sample_weight)
        rows = check_data(self, X, reset=reset)
        numbers = labels_of(rows, y, classes)
        scale = self.scale if reset and self._scales else None
        own = weighted(rows, sample_weight, scale=scale).of_rows
        weights = np.ones(rows.shape[0]) if own is None else own
        if self.class_weight is not None:
            found = classes[numbers]
            try:
                each = compute_class_weight(self.class_weight, classes=classes, y=found)
            except OverflowError:
                raise ValueError(
                    "class_weight has a number that is too large for a float"
                ) from None
            _check_class_weights(each, classes)
            weights = weights * each[numbers]
        rows = rows.in_memory()
        if not rows.in_any_order:
            raise ValueError(
                f"{type(self).__name__} takes rows in random order, and X gives its "
                f"{rows.shape[0]:,} rows only from the first to the last (a buffer holds "
                f"{rows.buffered:,}); give an array, a .npy, .zarr or .h5 file, or train on parts "
                "with partial_fit"
            )
        kept = np.flatnonzero(weights)
        if not len(kept):
            raise ValueError("no row has any weight: class_weight or sample_weight is 0 for each")
        if len(kept) < len(weights):
            rows = held(rows.take(rows.backend.array(kept)))
            numbers, weights = numbers[kept], weights[kept]
        return rows, Labels.of(numbers, weights, len(classes), rows)

    def _settings(self, rows: Rows) -> Settings:
        """How to train on these rows; what does not go together is refused."""
        count, share = rows.shape[0], self.validation_fraction
        if self.early_stopping and held_out_rows(count, share) >= count:
            raise no_row_left(share, count)
        settings = Settings(
            batch_size=self.batch_size,
            tol=self.tol,
            inhibition=self.inhibition,
            spike_penalty=self.spike_penalty,
            held_out=share if self.early_stopping else 0.0,
            corruption=Corruption.of(self.corruption, self.random_state),
            dropout=Dropout.of(self.dropout, self.random_state),
            roots=self._steps_on_roots(),
        )
        return replace(settings, max_iter=self.max_iter or passes_for(count, settings))

    def _steps_on_roots(self) -> bool:
        if self.steps != "auto":
            return self.steps == "roots"
        corruption = Corruption.of(self.corruption)
        return not self.spike_penalty and (corruption is None or corruption.kind != "noise")

    def _start(self, rows: Rows, classes: int, settings: Settings) -> Weights:
        """The weights that training begins with."""
        encoder, hidden = self._encoder(rows), self.hidden_layer_sizes
        none = encoder is not None and isinstance(hidden, Sequence) and not len(hidden)
        behind = () if none else check_layer_sizes(hidden, rows.shape[1])
        before = rows.shape[1:] if encoder is None else encoder.sizes
        return first_weights(
            rows,
            (*before, *behind, classes),
            self._random,
            inhibition=settings.inhibition,
            encoder=encoder,
            frozen=self.freeze,
        )

    def _encoder(self, rows: Rows) -> Weights | None:
        """The layers that ``pretrain`` gives, if it does, for these rows."""
        if self.pretrain is None:
            if self.freeze:
                raise ValueError("freeze=True needs pretrain=, an autoencoder whose encoder it is")
            return None
        model = self._pretrained
        if not isinstance(model, LRNNAutoencoder):
            raise TypeError(f"pretrain must be an LRNNAutoencoder, got {model!r:.100}")
        if not hasattr(model, "weights_"):
            raise ValueError(
                "pretrain is not fitted; fit it before. Where the classifier is cloned, as in a "
                "cross-validation, give sklearn.frozen.FrozenEstimator(autoencoder), which stays "
                "as it is"
            )
        if model.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"pretrain was fitted on {model.n_features_in_} attributes, and X has "
                f"{self.n_features_in_}; give one that was fitted on such data"
            )
        if not _scaled_alike(model, self):
            raise ValueError(
                "the classifier must scale its data as pretrain does, or not at all if that does "
                "not; give scale=autoencoder.scaling_, complement='auto', and such data as it was "
                "fitted on"
            )
        if model.weights_.inhibitory is not None and not self.inhibition:
            raise ValueError(
                "pretrain has inhibitory weights, which inhibition=False rules out; give "
                "inhibition=True"
            )
        kind = host_dtype(rows.dtype)
        encoder = Weights.of(model.encoders_, model.inhibitory_encoders_)
        return encoder.each(lambda w: rows.backend.array(to_numpy(w).astype(kind)))

    @property
    def _pretrained(self) -> Any:
        """What ``pretrain`` is, or holds."""
        given = self.pretrain
        return given.estimator if isinstance(given, FrozenEstimator) else given

    def _layers_to_freeze(self) -> int:
        model = self._pretrained
        return 0 if model is None or not self.freeze else len(model.encoders_)

    def _own(self, rows: Rows) -> Weights:
        """The weights so far, of the kind and type of rows."""
        return self.weights_.each(lambda w: rows.weights(to_numpy(w)))

    def _after(
        self, trained: Trained, evaluation: Recognition, classes: NDArray[Any], frozen: int
    ) -> FittedClassifier:
        return FittedClassifier(
            trained.weights,
            classes,
            trained.curves,
            max(1, trained.curves[-1].passes),
            evaluation.error,
            trained.weights.spikes(evaluation.mean_activations),
            frozen,
        )

    def _become(self, fitted: FittedClassifier) -> None:
        """Be this model: after training, and when it is read from a file."""
        self.weights_ = fitted.weights if self.device is None else fitted.weights.on(HOST)
        self.classes_ = fitted.classes
        self.history_ = list(fitted.history)
        self.n_iter_ = fitted.n_iter
        self._frozen = fitted.frozen
        self.loss_ = fitted.loss
        self.layer_spike_costs_ = fitted.layer_spike_costs
        self.spike_cost_ = float(fitted.layer_spike_costs.sum())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    # Recognition

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each row, as an array of NumPy.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The data, as for :meth:`fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of those in ``classes_``.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> y = np.where(X[:, 0] > X[:, 1], "more", "less")
        >>> model = LRNNClassifier(10, random_state=0).fit(X, y)
        >>> model.predict([[0.9, 0.1, 0.5, 0.5], [0.1, 0.9, 0.5, 0.5]])
        array(['more', 'less'], dtype='<U4')
        """
        chosen = np.argmax(to_numpy(self.predict_proba(X)), axis=1)
        found: NDArray[Any] = self.classes_[chosen]
        return found

    def predict_proba(self, X: Any) -> Array:
        """Each class's share of the output spikes, rows × classes in the order of ``classes_``.

        Parameters
        ----------
        X : as for :meth:`predict`
            The data.

        Returns
        -------
        probabilities : array of shape (n_samples, n_classes)
            Each row sums to 1.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNClassifier(3, max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5)
        >>> bool(np.allclose(model.predict_proba(X).sum(axis=1), 1))
        True
        >>> model.predict_proba([[0.0, 0.0, 0.0, 0.0]])  # no spike at all
        array([[0.5, 0.5]])
        """
        return self._recognised(X, _shares)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities; minus infinity where a class gets no spike.

        Parameters
        ----------
        X : as for :meth:`predict`
            The data.

        Returns
        -------
        logarithms : array of shape (n_samples, n_classes)
            At most 0.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNClassifier(3, max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5)
        >>> bool(np.allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X)))
        True
        """
        return self._recognised(X, _log_shares)

    def _recognised(self, X: Any, work: Callable[[Sequence[Layer], Array], Array]) -> Array:
        """What ``work`` makes of all layers and a block of rows: a number for each class."""
        check_is_fitted(self)
        rows = check_data(self, X, reset=False)
        layers = on_backend(self.weights_.layers, rows.backend)
        last = excitatory_part(layers[-1])
        rows = rows.of_type(last.dtype)
        found = rows.transmit(partial(work, layers), last.shape[1], last.dtype, widest(layers))
        return to_numpy(found) if self.device is not None and is_array(found) else found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows (of their weight) whose label is predicted right.

        Parameters
        ----------
        X : as for :meth:`predict`
            The data.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more.

        Returns
        -------
        accuracy : float
            From 0 to 1.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> y = X[:, 0] > X[:, 1]
        >>> model = LRNNClassifier(10, random_state=0).fit(X, y)
        >>> bool(model.score(X, y) == np.mean(model.predict(X) == y))
        True
        """
        labels = to_numpy(y) if is_array(y) else y
        return float(super().score(X, labels, sample_weight))

    def transform(self, X: Any) -> Array:
        """Activations of the last hidden layer, each in [0, 1].

        Parameters
        ----------
        X : as for :meth:`predict`
            The data.

        Returns
        -------
        activations : array of shape (n_samples, n_hidden)
            A row for each of X.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNClassifier((5, 3), max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5)
        >>> model.transform(X).shape
        (50, 3)
        """
        check_is_fitted(self)
        return for_frames(self, self._coded(check_data(self, X, reset=False)))

    def _coded(self, rows: Rows) -> Array:
        layers = on_backend(self.weights_.layers[:-1], rows.backend)
        found = transmit(rows.of_type(excitatory_part(layers[0]).dtype), layers)
        return to_numpy(found) if self.device is not None and is_array(found) else found

    # Spikes, and the network that fires them

    def spikes_per_decision(self, X: Any) -> float:
        r"""How many times the network fires for each spike of its output, on average over X.

        That is :math:`S = \sum_{l<L} r_l \cdot q_l \,/ \sum_c q_c`: firings per unit time of the
        input and hidden layers, with the rates ``firing_rates_``, for each output spike. Of its
        logarithm the mean is taken (so this is a geometric mean): rows differ by orders of
        magnitude. Rows without any output spike never decide; they are left out, with a warning.

        Parameters
        ----------
        X : as for :meth:`predict`
            The data.

        Returns
        -------
        firings : float
            At least the number of layers before the output.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNClassifier(3, max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5)
        >>> model.spikes_per_decision(X) >= 2
        True
        """
        found = self._log_spikes(X)
        deciding = np.isfinite(found)
        silent = int(np.count_nonzero(~deciding))
        if silent:
            warn(f"{silent:,} of {len(found):,} rows make no output spike, and are left out")
        return float(np.exp(found[deciding].mean())) if deciding.any() else np.inf

    def _log_spikes(self, X: Any) -> Floats:
        """Logarithms of the firings per output spike, of each row; infinite where there is none."""
        check_is_fitted(self)
        rows = check_data(self, X, reset=False)
        weights = self.weights_.on(rows.backend)
        scale, rates = weights.scaled_rates()
        kind = weights.excitatory[0].dtype
        sent = [like(weights.excitatory[0], rate) for rate in rates]
        work = partial(_log_spikes, weights.layers, sent, scale)
        found = rows.of_type(kind).transmit(work, 1, kind, widest(weights.layers))
        return to_numpy(found)[:, 0].astype(np.float64)

    @property
    def firing_rates_(self) -> list[Floats]:
        """Firing rates that the weights need of every layer's neurons, in spikes per unit time.

        They are the least that send out such weights; 1 at the output, and where a neuron leads
        nowhere.
        """
        return self.weights_.firing_rates()

    def to_network(self, least_rate: float = 1.0) -> RandomNeuralNetwork:
        """The random neural network whose steady state is this model's forward pass.

        Parameters
        ----------
        least_rate : float, default=1.0
            No neuron fires more slowly than this; one that need not fire so fast loses the surplus
            of its spikes. With 0 it fires as often as ``spike_cost_`` says.

        Returns
        -------
        network : RandomNeuralNetwork
            With a neuron for each attribute, hidden neuron and class, layer by layer.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNClassifier(3, max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5)
        >>> network = model.to_network()
        >>> q = network.split(network.steady_state(model.arrivals(X)))[-1]
        >>> bool(np.allclose(q / q.sum(axis=1, keepdims=True), model.predict_proba(X)))
        True
        """
        check_is_fitted(self)
        return self.weights_.to_network(least_rate=least_rate)

    def arrivals(self, X: Any, network: RandomNeuralNetwork | None = None) -> Floats:
        """External arrival rates at every neuron of a network that present X to it.

        Parameters
        ----------
        X : as for :meth:`predict`
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
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNClassifier(3, max_iter=5, random_state=0).fit(X, X[:, 0] > 0.5)
        >>> model.arrivals(X).shape  # 4 inputs, 3 hidden neurons, 2 classes
        (50, 9)
        """
        check_is_fitted(self)
        if network is None:
            rates = np.concatenate(self.weights_.firing_rates(least=1.0))
        elif isinstance(network, RandomNeuralNetwork):
            self.weights_.part_of(network)  # its layers are as wide
            rates = network.rates
        else:
            raise TypeError(f"network must be what to_network returned, got {network!r}")
        return arrivals_at(check_data(self, X, reset=False), rates)

    def decide(
        self,
        X: Any,
        *,
        confidence: float = 0.95,
        ratio: float | None = None,
        lead: int | None = None,
        events: float = 1_000_000,
        start: Literal["empty", "stationary"] = "empty",
        threads: int | None = None,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> "Decisions":
        """Simulate the network on each row, spike by spike, until its output spikes decide.

        In steady state the classes of successive output spikes are independent draws from
        :meth:`predict_proba`, and that a row is ever decided for another class than the most
        probable one, :meth:`predict`, has a probability of ``1 - confidence`` at most (see
        docs/recognition.md). That is about what the network says, not about what is true. A network
        that begins at rest comes near that law only with time.

        Before anything is simulated theory tells how many events decisions take. It is an error if
        none can be expected within the limit; rows that are undecided then are told of in a
        warning.

        Parameters
        ----------
        X : as for :meth:`predict`
            The data.
        confidence : float, default=0.95
            Probability of a decision to be the network's own verdict.
        ratio : float, optional
            Be so sure only of rows whose best class fires at least so many times as often as each
            other, such as 1.5, and decide sooner: by a lead of as many spikes as that takes.
        lead : int, optional
            Decide when one class is so many spikes ahead of each other, instead, whatever the
            confidence.
        events : float, default=1_000_000
            Most events of a row.
        start : {"empty", "stationary"}, default="empty"
            Begin with all neurons at rest, or in the steady state that X leads to.
        threads, progress, random_state : as for :meth:`RandomNeuralNetwork.simulate`
            How it is simulated.

        Returns
        -------
        found : Decisions
            ``labels``, whether they are ``decided``, after how many ``spikes`` of the output and
            ``events`` of all, and how many are to be expected by theory.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from lrnn import LRNNClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> X = X / 16
        >>> model = LRNNClassifier(20, spike_penalty=0.1, label_smoothing=0.1, random_state=0)
        >>> model = model.fit(X[:1000], y[:1000])
        >>> found = model.decide(X[1000:1005], start="stationary", random_state=0)
        >>> found
        Decisions(5 of 5 rows decided)
        >>> bool((found.labels == model.predict(X[1000:1005])).all())
        True
        """
        from lrnn.analysis.decisions import decide  # which loads the simulator

        check_is_fitted(self)
        return decide(
            self, X, confidence=confidence, ratio=ratio, lead=lead, events=events, start=start,
            threads=threads, progress=progress, random_state=random_state,
        )  # fmt: skip

    def audit(self, X: Any = None, y: Any = None) -> Audit:
        """Row sums and firing rates, layer by layer.

        For data X also saturated neurons; with their labels y, how well it recognises them, beside
        what one gets without looking at X.

        Parameters
        ----------
        X : as for :meth:`predict`, optional
            The data.
        y : array-like of shape (n_samples,), optional
            Their labels.

        Returns
        -------
        audit : Audit
            To be printed, or asked whether the network is ``valid``.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNClassifier
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> y = X[:, 0] > 0.5
        >>> model = LRNNClassifier(3, max_iter=5, random_state=0).fit(X, y)
        >>> model.audit().valid
        True
        >>> print(model.audit(X, y).standing)
        accuracy ...
        """
        check_is_fitted(self)
        if X is None:
            if y is not None:
                raise ValueError("y are labels of rows; give X, too")
            return audit(self.weights_, "free")
        rows = check_data(self, X, reset=False)
        weights = self.weights_.on(rows.backend)
        saturated = ever_saturated(rows.of_type(weights.dtype), weights)
        standing = None if y is None else self._standing(rows, y)
        return audit(self.weights_, "free", saturated, standing)

    def _standing(self, rows: Rows, y: Any) -> Recognised:
        numbers = labels_of(rows, check_labels(self, y), self.classes_, "it knows no others")
        probabilities = np.asarray(to_numpy(self.predict_proba(rows)), dtype=np.float64)
        return Recognised.of(probabilities, numbers, self.spikes_per_decision(rows))

    # Doors to rooms above: files, and other libraries

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a safetensors file; :func:`lrnn.load` reads it back.

        The file is replaced as a whole, or not at all. The autoencoder of ``pretrain`` is not
        written: its layers are among the model's own.

        Parameters
        ----------
        path : str or path-like
            The file.

        Examples
        --------
        >>> import tempfile
        >>> import lrnn
        >>> model = lrnn.LRNNClassifier(2, max_iter=5, random_state=0)
        >>> model = model.fit([[0.1, 0.9], [0.9, 0.1]], ["a", "b"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.safetensors")
        ...     lrnn.load(f"{folder}/model.safetensors").classes_
        array(['a', 'b'], dtype='<U1')
        """
        from lrnn.storage.model_files import save

        check_is_fitted(self)
        save(self, path)

    def to_torch(self, *, scaling: bool | None = None) -> Any:
        """A plain PyTorch module that does what this model does, for ``torch`` tensors of its type.

        ``module(X)`` are the probabilities, ``module.hidden(X)`` what :meth:`transform` gives. It
        knows nothing of lrnn, nor of the names of classes. If the model presents attributes beside
        their complements, so does the module.

        Parameters
        ----------
        scaling : bool, optional
            Whether the module begins with the model's own scaling (``scaling_``, or the division of
            levels by the highest), and takes raw rows as :meth:`predict_proba` does. (Columns of
            text are never taken, nor missing cells filled; a warning tells what takes their place.)
            By default it takes rows in [0, 1], with a warning if the model does scale.

        Returns
        -------
        module : torch.nn.Module
            On the CPU.
        """
        from lrnn.storage.export import to_torch

        return to_torch(self, scaling=scaling)

    @property
    def _n_features_out(self) -> int:
        return self.weights_.sizes[-2]

    def live(
        self,
        X: Any = None,
        *,
        rows: int = 20,
        shape: tuple[int, ...] | None = None,
        against: Mapping[str, Any] | None = None,
    ) -> "LivePage":
        """A page in which the network runs spike by spike, which a notebook shows.

        Parameters
        ----------
        X : as for :meth:`predict`, optional
            Data to choose inputs from. Without any, one begins with an empty input.
        rows : int, default=20
            How many of its first rows are put into the page.
        shape : tuple of int, optional
            Height and width, if rows are images, and colours.
        against : mapping of str to models, optional
            Others for the same attributes, to run on the same inputs beside it.

        Returns
        -------
        page : LivePage
            With ``save(path)``, one file that needs nothing else, and ``show()`` for a browser.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from lrnn import LRNNClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> LRNNClassifier(3, max_iter=5, random_state=0).fit(X, y).live(X)
        LivePage()
        """
        from lrnn.live.page import page_of

        check_is_fitted(self)
        return page_of(self, X, rows, shape, against)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.scale in (None, "none", "levels")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _scaled_alike(one: Any, other: Any) -> bool:
    """Whether two models do the same to the same attributes."""
    names = [list(getattr(model, "feature_names_in_", ())) for model in (one, other)]
    if all(names) and names[0] != names[1]:
        return False
    first, second = (model.scaling_ or Scaling("none") for model in (one, other))
    columns = [
        None if each.recipe is None else [replace(c, position=0) for c in each.recipe.columns]
        for each in (first, second)
    ]
    if None not in columns and columns[0] != columns[1]:
        return False
    plain = {"recipe": None, "seen": None, "reading": Reading()}
    return bool(replace(first, **plain) == replace(second, **plain))


def _check_class_weights(each: Floats, classes: NDArray[Any]) -> None:
    """A class weighs a finite number, 0 or more, and not all of them nothing."""
    wrong = ~(np.isfinite(each) & (each >= 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"class_weight is {each[first]:g} for the class {classes.tolist()[first]!r}; a weight "
            "is a finite number, 0 or more"
        )


def _warn_of_noise(rows: Rows, settings: Settings) -> None:
    """Noise is as large as it is said to be, however dim the data are."""
    corruption = settings.corruption
    if corruption is None or corruption.kind != "noise":
        return
    peak = brightest(rows)
    if peak < corruption.level:
        warn(
            SettingWarning(
                f"noise of {corruption.level:g} ({{corruption}}) drowns X, whose highest number is "
                f"{peak:.3g}; give {{scale=max}}, which divides X by that, or less noise"
            )
        )


def _warn_if_untrained(trained: Trained, start: Weights, settings: Settings) -> None:
    """The first weights may be the best ones by the rows that judge them."""
    if trained.weights is not start or trained.interrupted:
        return
    judged, remedy = "", "Give more passes ({max_iter})"
    if settings.held_out:
        judged = " on the rows held out, which may be too few"
        remedy = "Hold out more rows, or train without {early_stopping=True}"
    warn(
        SettingWarning(
            f"no pass has lowered the loss{judged}: the weights are those before training. {remedy}"
        )
    )


def _shares(layers: Sequence[Layer], block: Array) -> Array:
    return shares(through(layers, block))


def _log_shares(layers: Sequence[Layer], block: Array) -> Array:
    found = _shares(layers, block)
    with np.errstate(divide="ignore"):
        return array_namespace(found).log(found)


def _log_spikes(layers: Sequence[Any], rates: Sequence[Array], scale: float, block: Array) -> Array:
    """A column, infinite where nothing fires at the end."""
    passed = activations(layers, block)
    found = log_spikes(passed, rates, scale)
    xp = array_namespace(found)
    deciding = xp.sum(passed[-1], axis=1) > 0
    return xp.where(deciding, found, xp.full_like(found, float("inf")))[:, None]
