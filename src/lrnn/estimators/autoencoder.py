"""The autoencoder as a scikit-learn estimator: it checks, chooses, delegates, and remembers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from numbers import Integral, Real
from operator import matmul
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from lrnn.analysis.audit import Audit, audit, stand
from lrnn.arrays import HOST, Array, Floats, Layer, Rates, host_dtype, is_array, to_numpy
from lrnn.functional import complement_decoded
from lrnn.moments import Corruption, Moment, MomentKind, Sums
from lrnn.network import RandomNeuralNetwork
from lrnn.network.weights import (
    Part,
    Weights,
    arrivals_at,
    excitatory_part,
    on_backend,
    random_weights,
    refined,
    through,
    transmit,
    widest,
)
from lrnn.rows import HostRows, Rows, WeightedRows, attributes_of
from lrnn.rows.gaps import Filling, full
from lrnn.rows.validation import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    backend_for,
    check_codes,
    check_data,
    fit_context,
    for_frames,
    raw_matrix,
    weighted,
)
from lrnn.tables.filled_frames import filled_frame
from lrnn.tables.frame import is_frame
from lrnn.tables.messages import SettingWarning, warn
from lrnn.tables.scaling import KINDS, Scaling, attribute_count
from lrnn.training import (
    MOST_STEPS,
    Evaluation,
    LearningCurve,
    Memory,
    Observer,
    Run,
    Settings,
    Trained,
    evaluate,
    evaluate_both,
    ever_saturated,
    fine_tuned,
    known_error,
    learn_filling,
    never_worse,
    remembered,
    row_errors,
    train_gram,
    train_inhibitory,
    train_jointly,
    train_layerwise,
    train_on_part,
    train_part,
    train_unit_rate,
    train_without_rows,
    tune,
    watching,
)
from lrnn.training.parameters import (
    check_corruption,
    check_decoding,
    check_forget,
    check_inhibition,
    check_layer_sizes,
    check_order,
    check_refine,
    check_solver,
    check_start,
    check_without_rows,
)

if TYPE_CHECKING:
    from lrnn.live import LivePage

FEW_TO_FILL = 5  # rows for each attribute, from which one learns what to fill gaps with
PARTS = 1_000  # of a stream, of which history_ tells: the last ones

NOT_KEPT = (
    "the second moment of the rows before is not there (a fit on rows keeps none, nor do files of "
    "models without one): training goes on from the weights, and these rows are forgotten by and "
    "by. To keep them, give them to partial_fit, as the first part of the stream, or to "
    "fit(lrnn.Moment.of(X))"
)


FAINT = 0.3  # share of the data's brightness below which outputs are told of


@dataclass(frozen=True)
class Fitted:
    """What makes a model a fitted one, whether it was trained or read from a file."""

    weights: Weights
    history: Sequence[LearningCurve]
    n_iter: int
    error: float
    layer_spike_costs: Floats
    spike_cost: float
    corrupted_error: float | None = None
    error_is_bound: bool = False
    memory: Memory | None = None  # from which a stream can go on

    @classmethod
    def after(
        cls, trained: Trained, evaluation: Evaluation, rates: Rates, *, bound: bool = False
    ) -> "Fitted":
        """After training; without rows the error is an upper ``bound``."""
        costs = trained.weights.spikes(evaluation.mean_activations, rates)
        n_iter = max(1, *(curve.passes for curve in trained.curves))  # the data were read
        spikes = float(costs.sum())
        return cls(
            trained.weights, trained.curves, n_iter, evaluation.error, costs, spikes,
            evaluation.corrupted_error, bound,
        )  # fmt: skip


def warn_if_interrupted(trained: Trained) -> None:
    """Ctrl-C ends training, but not without a word."""
    if trained.curves[-1].stopped == "interrupted":
        warn(
            f"training was interrupted after {trained.curves[-1].passes} passes or full-batch "
            "steps; the best weights so far are kept"
        )


def warn_if_falling(trained: Trained, settings: Settings) -> None:
    """More steps would have led further."""
    if settings.tol and trained.still_falling and not trained.interrupted:
        steps = "steps" if settings.solver == "gram" else "passes"
        warn(
            f"the error was still falling after max_iter={settings.max_iter} {steps}, by more than "
            f"tol={settings.tol:g} asks for; give a higher max_iter for a lower error, or a higher "
            "tol to be content with this one",
            ConvergenceWarning,
        )


def warn_if_excitatory(trained: Trained, settings: Settings, rows: int) -> None:
    """Inhibition was asked for, and has bettered nothing."""
    if not settings.inhibition or trained.interrupted or trained.weights.inhibitory is not None:
        return
    passes = settings.inhibitory_passes(rows)
    remedies = [f"more passes, such as {{fine_tune={5 * passes}}}"]
    if settings.spike_penalty:
        remedies.append(f"a lower {{spike_penalty}} than {settings.spike_penalty:g}")
    if settings.held_out:
        remedies.append("more rows to hold out")
    warn(
        SettingWarning(
            f"with inhibition, {passes:,} pass{'es' * (passes > 1)} found no network that is "
            "better than the excitatory one, which is kept: nothing inhibits in it. Give "
            f"{', or '.join(remedies)}"
        )
    )


def warn_if_faint(evaluation: Evaluation, settings: Settings) -> None:
    """Spikes may be so dear that outputs hardly fire."""
    given, *_, found = (float(np.sum(mean)) for mean in evaluation.mean_activations)
    if settings.spike_penalty and found < FAINT * given:
        warn(
            SettingWarning(
                f"spikes are so dear that outputs are only {100 * found / given:.2g} % as bright "
                f"as the data; give less than {{spike_penalty={settings.spike_penalty:g}}} (errors "
                "fall with the square of the data's brightness, spikes with that itself)"
            )
        )


class LRNNAutoencoder(
    CallbackSupportMixin,  # type: ignore[misc]
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    r"""Nonnegative autoencoder that is also a random neural network.

    Data in [0, 1] drive a feed-forward spiking network: each layer's neurons are excited with
    probability :math:`q_l = \min(q_{l-1} W_l, 1)`, all weights are nonnegative, and so are the
    codes. The trained network is a valid random neural network (:meth:`to_network`) whose
    spikes, counted, give back these numbers.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, optional
        Widths of the encoding layers; the last one is the code. By default there is one, as wide as
        the paper's for its tables: half of the attributes (also with their complements), halves
        rounded up, but at most 100.
        (``weights_.sizes`` shows it.)
    decoder_layer_sizes : int or sequence of int, optional
        Widths of the layers between the code and the output. By default they mirror the encoding
        ones. Under a price of spikes a wide layer here buys more than one before the code
        (``LRNNAutoencoder(50, decoder_layer_sizes=1000, inhibition=True, ...)``).
    solver : {"gram", "minibatch"}, default="gram"
        How to train. "gram" takes full-batch steps on the second moment of the data, at a cost
        that does not depend on the number of rows. (Under unit rates saturation decides, and it
        trains the network end to end instead.) "minibatch" runs the algorithms of Yin & Gelenbe
        (2016) as printed: slower, and to higher errors.
    rates : {"free", "unit"}, default="free"
        With "free", weights are any nonnegative numbers and the network's firing rates follow
        from them. With "unit", all firing rates are 1 and each row of each weight matrix sums to
        at most 1 after every single step: the constraint that the paper states.
    stacking : {"layerwise", "joint"}, default="layerwise"
        For several hidden layers: train one pair after the other, or all together. The gram
        solver splits the best shallow network over the layers ("joint"), and keeps whichever of
        that and the layer-wise network is better ("layerwise"). The minibatch solver runs the
        paper's Algorithm 2 or 3.
    fine_tune : int, default=0
        Passes over the data in which the whole saturating network is trained end to end
        afterwards. They never make it worse; a few are worth their time, above all for several
        hidden layers.
    init : {"anchors", "random"} or (encoder, decoder), optional
        Initial weights: profiles of well-chosen attributes (for the gram solver, its default),
        random ones, or given ones, such as another model's ``encoders_`` and ``decoders_``: two
        matrices, or two lists of them for several hidden layers (which then are trained end to
        end, for ``fine_tune`` passes). The error is never above theirs. What is 0 in a given
        encoder stays 0, unless it is trained end to end.
    moment : {"auto", "dense", "implicit"}, default="auto"
        How the gram solver knows the second moment: as a matrix, or only through products with
        the data. The cheaper one by default. Then sparse rows in memory whose matrix does not pay
        are solved by coordinate descent on their own rows and columns, but for few of them. Where
        a product is dear, up to nine tenths of the steps are made on a sketch of the moment, the
        others on the moment itself: ``n_iter_`` and ``history_`` count these.
    batch_size : int, default=100
        Rows in a minibatch. Training end to end takes more, where a pass would have over 128 steps.
    max_iter : int, default=200
        Most full-batch steps of the gram solver (for each layer, if they are trained one after the
        other), or passes over the data.
    tol : float, default=1e-4
        Training ends when the lowest error has fallen by less than this share in ten steps or
        passes. 0 never ends it. If ``max_iter`` ends it before, a ``ConvergenceWarning`` of
        scikit-learn says so.
    evaluate_every : int, optional
        Take the error on all rows every so many iterations (minibatches), besides the end of
        every pass; the weights with the lowest are kept.
    inhibition : bool, default=False
        Whether neurons may also inhibit each other. The network then is the full random neural
        network, :math:`q_l = \min(q_{l-1} A^+_l / (1 + q_{l-1} A^-_l), 1)`, trained end to end (for
        ``fine_tune`` passes, or as many as are good). Its errors are far below those of any
        excitatory network; it fires far more spikes.
    spike_penalty : float, default=0.0
        With inhibition, what is minimised is the mean squared error plus this times the spikes
        (``spike_cost_``). :func:`lrnn.frontier` goes through many of them.
    early_stopping : bool, default=False
        With inhibition, hold out rows: the weights with the lowest error on these are kept. When
        it has not fallen by ``tol`` during a tenth of the passes, steps become smaller, and the
        next time training ends. The errors of ``history_`` are then those on the rows held out.
        (The excitatory network that comes first is trained on all rows.)
    validation_fraction : float, default=0.1
        Share of the rows that is held out.
    scale : {"auto", "minmax", "max", "levels", "none"} or Scaling, optional
        How raw data get into [0, 1]: made from the data that the model is fitted on, or a
        :class:`lrnn.Scaling` that is made already. The model then takes and gives data in their own
        units (``fit``, ``transform``, ``reconstruct``, ``inverse_transform``, ``arrivals``); errors
        and :meth:`score` remain those of scaled data, since different units have no mean. What is
        beyond the range of training is cut off, with a warning that counts. Data frames may have
        other columns than numbers, if a Scaling says what to do with them. By default data are
        taken as they are.
    complement : bool, default=False
        Present each attribute x, in [0, 1], beside 1 − x, to a network of twice as many inputs and
        outputs, also if ``scale`` is a Scaling that does not say so. A network has no bias, and low
        numbers excite nothing: this is for tables whose low numbers mean as much as high ones. The
        model takes and gives rows as without (an attribute is (a + 1 − b) / 2 of what its two
        output neurons give back, :func:`lrnn.functional.complement_decoded`); nothing is stored
        twice, and sparse rows become full ones a block at a time. Errors and :meth:`score` are
        those of all outputs: attributes that are given back have at most as large ones.
        ``corruption`` is that of inputs; missing cells are filled before.
    missing : {"refuse", "allow", "unstored"}, default="refuse"
        What to do with missing cells (NaN, masked ones). With "allow" they are filled, in training
        and by every method: with what is most probable, given the known cells of their row, for
        rows that are sums of parts (:meth:`impute` shows it). The network takes the filled rows as
        any others; errors and :meth:`score` are those of known cells. This is for full arrays, data
        frames, sparse matrices, files and Dask collections that fit in memory (1 GiB as a full
        matrix), where they are brought. Cells that a sparse matrix does not store are 0; with
        "unstored" they are missing, too, as ratings are that nobody has given, and zeros that it
        stores are known ones.
    corruption : ("mask", float) or ("noise", float), optional
        Learn to give back rows from corrupted ones: cells become 0 with this probability, or get
        Gaussian noise of this standard deviation and are clipped to [0, 1]. The gram solver does it
        without sampling, at about the cost of a plain fit: it knows the second moments of corrupted
        rows exactly. Training end to end (``fine_tune``, ``rates="unit"``, ``inhibition``) draws
        new samples for each minibatch. ``solver="minibatch"`` cannot do it.
    forget : float, optional
        For :meth:`partial_fit` with the gram solver: after how many more rows a row counts half.
        (Rows of one part count alike.) By default none is forgotten.
    device : str, optional
        "cuda" (or "cuda:1" …) sends NumPy data to a GPU, through PyTorch or CuPy, and brings the
        results back. By default work is done where the data are: arrays of torch and CuPy stay on
        their device, and so do weights and codes.
    random_state : int, RandomState instance or None, default=None
        Determines the initial weights and the minibatches; a number also what becomes of corrupted
        rows, which otherwise are always the same.
    verbose : int, default=0
        Show a progress bar if above 0.

    Attributes
    ----------
    weights_ : Weights
        All weights, as a value that knows its firing rates, its spikes and its network.
    encoders_, decoders_ : list of ndarray
        Excitatory weights from the input to the code and from the code to the output.
    inhibitory_encoders_, inhibitory_decoders_ : list of ndarray, or None
        Inhibitory ones, if there are any.
    components_ : ndarray of shape (n_code, n_features)
        What each code neuron adds to the output: the product of the decoders. (With ``complement``
        columns of all x come first, then those of all 1 − x.)
    firing_rates_ : list of ndarray
        Firing rates that the weights need of every layer's neurons; the output layer's are 1.
    spike_cost_ : float
        Firings per unit time of the input and hidden layers at these rates, on average over the
        training data.
    layer_spike_costs_ : ndarray
        The same, for each of these layers. (Neurons that lead nowhere need not fire.)
    reconstruction_err_ : float
        Mean squared error per attribute on the training data as they are: ``-score(X)``, also
        with a ``corruption``; of known cells, if some are missing.
    corrupted_err_ : float or None
        With a ``corruption``, the mean squared error of giving back the training data from a sample
        of corrupted ones. This is what training makes small, and what ``history_`` tells of. (There
        the gram solver's are expectations, before outputs above 1 count as 1: slightly higher. Of a
        network that was fitted on a :class:`lrnn.Moment` it is that expectation.)
    error_is_bound_ : bool
        Whether the network's own error may be lower: true of one that was fitted on a
        :class:`lrnn.Moment`, where ``reconstruction_err_`` is that of outputs that do not saturate.
    history_ : list of LearningCurve
        Errors after each iteration and each evaluation, one curve per trained layer pair (one
        for all, if trained together; one more for fine-tuning and each :meth:`partial_fit`).
    n_iter_ : int
        Full-batch steps or passes over the data that were made, by the stage that took the most.
    n_features_in_ : int
        Number of attributes.
    feature_names_in_ : ndarray of str
        Their names, where the data had names.
    scaling_ : Scaling or None
        How raw data get into [0, 1], if the model does that itself.
    moment_ : Moment or None
        After :meth:`partial_fit` with the gram solver (or a fit on a moment), that of all rows so
        far, with the weights that they have. None where no moment is kept, or rows in its place.
    filling_ : Filling or None
        What missing cells are filled by, if there were any in training.
    white_ : float or None
        The level that is 1, if it was fitted on levels: 255, 65,535, or 1 if there was none above.

    Notes
    -----
    Values above 1 are saturated to 1, as the model says, and errors are taken against that.
    Unsigned 8- and 16-bit integers are read as levels, whatever holds them: 255 (65,535) is 1. If
    none is above 1 they are 0 and 1, and a warning says so; a fitted model keeps to what it was.
    Ctrl-C ends the training and keeps the best weights so far.

    Under ``solver="minibatch"`` an attribute that is 0 in a whole minibatch loses its weights
    for good; this is the rule as printed. Use larger batches for sparse data.

    References
    ----------
    Y. Yin, E. Gelenbe, "Nonnegative autoencoder with simplified random neural network", 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from lrnn import LRNNAutoencoder
    >>> X = load_digits().data / 16
    >>> model = LRNNAutoencoder((16,)).fit(X)
    >>> model.transform(X).shape
    (1797, 16)
    >>> round(model.reconstruction_err_, 3)
    0.018
    >>> model.to_network()
    RandomNeuralNetwork(144 neurons in layers 64 → 16 → 64, ... connections)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "hidden_layer_sizes": [
            "array-like",
            Interval(Integral, None, None, closed="neither"),
            None,
        ],
        "decoder_layer_sizes": [
            "array-like",
            Interval(Integral, None, None, closed="neither"),
            None,
        ],
        "solver": [StrOptions({"minibatch", "gram"})],
        "rates": [StrOptions({"free", "unit"})],
        "stacking": [StrOptions({"layerwise", "joint"})],
        "fine_tune": [Interval(Integral, 0, None, closed="left")],
        "init": [StrOptions({"anchors", "random"}), tuple, list, None],
        "moment": [StrOptions({"auto", "dense", "implicit"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "evaluate_every": [Interval(Integral, 1, None, closed="left"), None],
        "inhibition": ["boolean"],
        "spike_penalty": [Interval(Real, 0, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "scale": [StrOptions(set(KINDS)), Scaling, None],
        "complement": ["boolean"],
        "missing": [StrOptions({"refuse", "allow", "unstored"})],
        "corruption": [tuple, list, None],
        "forget": [Interval(Real, 0, None, closed="neither"), None],
        "device": [str, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = None,
        *,
        decoder_layer_sizes: Any = None,
        solver: Literal["gram", "minibatch"] = "gram",
        rates: Rates = "free",
        stacking: str = "layerwise",
        fine_tune: int = 0,
        init: Any = None,
        moment: MomentKind = "auto",
        batch_size: int = 100,
        max_iter: int = 200,
        tol: float = 1e-4,
        evaluate_every: int | None = None,
        inhibition: bool = False,
        spike_penalty: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        scale: str | Scaling | None = None,
        complement: bool = False,
        missing: Literal["refuse", "allow", "unstored"] = "refuse",
        corruption: tuple[str, float] | None = None,
        forget: float | None = None,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.decoder_layer_sizes = decoder_layer_sizes
        self.solver = solver
        self.rates = rates
        self.stacking = stacking
        self.fine_tune = fine_tune
        self.init = init
        self.moment = moment
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.evaluate_every = evaluate_every
        self.inhibition = inhibition
        self.spike_penalty = spike_penalty
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.scale = scale
        self.complement = complement
        self.missing = missing
        self.corruption = corruption
        self.forget = forget
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or Moment
            Nonnegative data, best scaled to [0, 1] (see ``scale``). Besides arrays of NumPy,
            SciPy, pandas, torch and CuPy these may be data that do not fit in memory: a memory map,
            the name of a .npy, .csv, .parquet, .zarr or .h5 file, an array of Zarr or HDF5, a
            function that gives an iterator of blocks of rows, or a Dask array or dataframe. What is
            trained on minibatches takes rows in random order; of those that come only from the
            first to the last, as many are shuffled at a time as a buffer of 1 GiB holds, with a
            warning if that is not all.

            A :class:`lrnn.Moment` takes the place of rows for the gram solver with free rates.
            Code neurons are then kept out of saturation by the largest drive that the ranges of
            the columns allow, not the largest that occurs: codes are smaller, and what the network
            gives back is the same. ``reconstruction_err_`` is exact but for outputs that saturate,
            which may only lower it (``error_is_bound_``); spikes are exact.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more: a weight of 2 counts a row twice, one of 0 leaves it
            out. The gram solver with free rates takes them, without what trains on minibatches.
            So they do in what fills missing cells (but whether rows are many enough for moments of
            pairs of cells goes by their number).

        Returns
        -------
        self : LRNNAutoencoder
            The model itself, trained.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
        >>> model.components_.shape
        (2, 4)
        """
        if isinstance(X, Moment):
            self._fit_moment(X, sample_weight)
        else:
            self._fit(X, sample_weight=sample_weight)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: Any = None, refine: int = 0
    ) -> Array:
        """Train on X and return its codes: the same as ``fit(X).transform(X, refine)``.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, as for :meth:`fit`.
        refine : int, default=0
            Sweeps that improve the codes, as for :meth:`transform`.

        Returns
        -------
        codes : array of shape (n_samples, n_code)
            A row for each of X.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0)
        >>> bool((model.fit_transform(X) == model.transform(X)).all())
        True
        """
        check_refine(refine, self.inhibition)
        rows = self._fit(X, sample_weight=sample_weight)
        return for_frames(self, self._coded(rows, refine))

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit_moment(self, moment: Moment, sample_weight: Any) -> None:
        check_without_rows(self, "a Moment", moment=self.moment)
        if sample_weight is not None:
            raise ValueError(
                "a Moment has no rows for sample_weight; give it to Moment.of, where they are"
            )
        if not moment.n_rows or not moment.weight:
            raise ValueError(f"{moment!r} has no rows with any weight to train on")
        moment.check_scale(self.scale, self.complement)
        check_corruption(self, rowless=Corruption.of(self.corruption) is not None)
        self._random = check_random_state(self.random_state)
        self.n_features_in_ = attribute_count(moment.scaling, moment.shape[1])
        if moment.names is not None:
            self.feature_names_in_ = np.array(moment.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.white_, self.scaling_ = moment.white, moment.scaling
        settings = self._settings(moment)
        with watching(self, moment, settings.most_passes(moment.n_rows)) as observer:
            run = Run(settings, self._random, observer)
            trained = train_without_rows(moment, backend_for(self), run)
        assert trained.evaluation is not None
        fitted = Fitted.after(trained, trained.evaluation, self.rates, bound=True)
        self._become(replace(fitted, memory=remembered(moment.sums, trained, run)))
        warn_if_interrupted(trained)
        warn_if_falling(trained, settings)

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, *watchers: Observer, sample_weight: Any = None) -> Rows:
        if sample_weight is not None:
            check_without_rows(self, "sample_weight")
        rows = check_data(self, X, reset=True, sample_weight=sample_weight)
        rows = weighted(rows, sample_weight, scale=self.scale)
        self._random = check_random_state(self.random_state)
        settings = self._settings(rows)
        near = rows.in_memory() if settings.on_minibatches else rows
        with watching(self, X, settings.most_passes(rows.shape[0]), *watchers) as observer:
            trained = self._train(near, Run(settings, self._random, observer))
        evaluation = trained.evaluation
        if evaluation is None:
            evaluation = evaluate_both(near, trained.weights, settings.corruption)
        if rows.gaps is not None:
            given = rows.gaps, near, trained.weights, rows.of_rows
            evaluation = replace(evaluation, error=known_error(*given))
            if settings.corruption is not None:
                corrupted = known_error(*given, settings.corruption)
                evaluation = replace(evaluation, corrupted_error=corrupted)
        self._become(Fitted.after(trained, evaluation, self.rates))
        warn_if_interrupted(trained)
        warn_if_falling(trained, settings)
        if self.reconstruction_err_:
            warn_if_excitatory(trained, settings, near.shape[0])
            warn_if_faint(evaluation, settings)
        return rows

    def _train(self, rows: Rows, run: Run) -> Trained:
        """The one place where the training is chosen."""
        settings = run.settings
        given = settings.start
        if settings.solver == "minibatch":
            start = given or random_weights(settings.sizes, run.random, rows.weights)
            by_layers = settings.layerwise and settings.deep
            trained = (train_layerwise if by_layers else train_jointly)(rows, start, run)
        elif settings.rates == "unit":
            trained = train_unit_rate(rows, run)
        elif given is not None and settings.deep:
            return tune(rows, given, run)
        else:
            trained = never_worse(rows, train_gram(rows, run), run)
            if settings.inhibition and not trained.interrupted:
                return train_inhibitory(rows, trained, run)
        return never_worse(rows, fine_tuned(rows, trained, run), run)

    @fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from X, one more part of a stream; no part is needed again.

        With the gram solver the second moment of all rows so far is kept (those before count less,
        if ``forget`` says so), and a few steps are taken on it after each part: what that costs
        does not depend on how many rows came before. Small parts wait until they are a tenth of
        all rows, or 200; the moment has them at once. ``fine_tune`` and ``stacking`` do not matter:
        several hidden layers are the shallow network, split. With ``solver="minibatch"`` or unit
        rates all layers are trained with each minibatch of X (the paper's Algorithms 1 and 3), with
        inhibition as ``fit`` does, in one pass over X.

        Parameters
        ----------
        X : as for :meth:`fit`
            Rows; as many as you like, also one.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more, beside the rows of all other parts, which weigh 1 where
            nothing is said. The gram solver with free rates takes them, without inhibition.
            ``forget`` goes by what later rows weigh, too.

        Returns
        -------
        self : LRNNAutoencoder
            The model itself, which has learnt from X, too.

        Notes
        -----
        With the gram solver ``reconstruction_err_`` and ``spike_cost_`` are those on all rows so
        far, with the weights that they have; the error is that before outputs saturate, so the
        network's own is at most as high. Otherwise they are those on X. ``n_iter_`` counts one
        for each part, ``history_`` has one curve for each, and keeps the last 1,000.

        Weights are scaled such that a row with the highest number of each attribute so far would
        drive each code neuron to 1. So no row that was seen saturates one; codes are somewhat
        lower than those of ``fit``, which knows the largest drive of all rows.

        ``moment_`` is what is kept, and files of models keep it, too. :meth:`fit` keeps none, but
        ``fit(Moment.of(X))`` does. A stream that goes on without it goes on from the weights, and
        forgets the rows of before by and by, which is told by a warning.

        Sparse rows of over 2,048 attributes, and others of over 16,384, are kept themselves, in
        place of a matrix as large: as many as have 262,144 numbers, chosen at random such that
        their moment is that of all on average. Steps are taken for 1,000 rows at a time then.
        (``moment="dense"`` or ``"implicit"`` decides.)

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((400, 4))
        >>> model = LRNNAutoencoder(2, random_state=0)
        >>> model.partial_fit(X[:200]).partial_fit(X[200:]).moment_
        Moment(400 rows, 4 attributes)
        """
        first = not hasattr(self, "weights_")
        if isinstance(self.scale, str) and self.scale != "none":
            raise ValueError(
                f"scale={self.scale!r} would be made from the first part of a stream alone; give "
                "scale=lrnn.Scaling.fit(X, ...) of data that show the range of all"
            )
        on_moment = self.solver == "gram" and self.rates == "free" and not self.inhibition
        if sample_weight is not None and not on_moment:
            check_without_rows(self, "sample_weight")
        rows = check_data(self, X, reset=first, sample_weight=sample_weight)
        rows = weighted(rows, sample_weight, relative=False)
        check_forget(self, on_moment)
        check_order(rows, minibatch=not on_moment)
        check_corruption(self, partly=True)
        if not hasattr(self, "_random"):
            self._random = check_random_state(self.random_state)
        settings = self._settings(rows)
        with watching(self, X, MOST_STEPS if on_moment else 1) as observer:
            trained, memory = self._train_part(rows, Run(settings, self._random, observer))
        evaluation = trained.evaluation
        if evaluation is None:
            here, weights = self._together(rows, trained.weights)
            evaluation = evaluate_both(here, weights, settings.corruption)
        bound = memory is not None and isinstance(memory.kept, Sums)
        fitted = Fitted.after(trained, evaluation, self.rates, bound=bound)
        fitted = replace(fitted, memory=memory)
        if not first:  # what was before this part counts
            history = [*self.history_[1 - PARTS :], *fitted.history]
            fitted = replace(fitted, history=history, n_iter=self.n_iter_ + 1)
        lost = memory is not None and not first and getattr(self, "_memory", None) is None
        self._become(fitted)
        if lost:
            warn(NOT_KEPT)
        count, width = rows.shape[0], self.n_features_in_
        if first and self.filling_ is not None and count < FEW_TO_FILL * width:
            warn(
                f"what missing cells are filled with was learnt from the first part alone, of "
                f"{count} rows, which is little for {width} attributes; begin the stream with a "
                "larger part"
            )
        warn_if_interrupted(trained)
        return self

    def _train_part(self, rows: Rows, run: Run) -> tuple[Trained, Memory | None]:
        """The one place where the training on a part of a stream is chosen."""
        settings, weights = run.settings, getattr(self, "weights_", None)
        on_minibatches = settings.solver == "minibatch" or settings.rates == "unit"
        if not on_minibatches and not settings.inhibition:
            start = settings.start if weights is None else weights.on(rows.backend)
            return train_part(rows, getattr(self, "_memory", None), start, run)
        rows = rows.in_memory()
        if weights is not None:
            rows, weights = self._together(rows)
        run = replace(run, settings=replace(settings, max_iter=1))
        if settings.inhibition:
            return train_on_part(rows, weights, run), None
        weights = weights or settings.start
        weights = weights or random_weights(settings.sizes, run.random, rows.weights)
        return train_jointly(rows, weights, run), None

    def _settings(self, rows: Rows | Moment) -> Settings:
        """How to train on these rows; what does not go together is refused."""
        check_solver(self.solver, self.init)
        check_inhibition(self, rows.shape[0])
        check_corruption(self)
        backend = rows.backend if isinstance(rows, Rows) else backend_for(self)
        if isinstance(rows, Rows):
            check_order(
                rows,
                minibatch=self.solver == "minibatch",
                unit=self.rates == "unit",
                fine_tune=self.fine_tune > 0,
                inhibition=self.inhibition,
                early_stopping=self.early_stopping,
            )
        hidden = check_layer_sizes(self.hidden_layer_sizes, self.n_features_in_)
        sizes = (rows.shape[1], *hidden)
        decoding = check_decoding(self)
        return Settings(
            sizes=sizes,
            decoding=decoding,
            solver=self.solver,
            rates=self.rates,
            layerwise=self.stacking == "layerwise",
            anchors=not (isinstance(self.init, str) and self.init == "random"),
            start=check_start(self, sizes, decoding, backend, host_dtype(rows.dtype)),
            moment=self.moment,
            batch_size=self.batch_size,
            max_iter=self.max_iter,
            tol=self.tol,
            evaluate_every=self.evaluate_every,
            fine_tune=self.fine_tune,
            inhibition=self.inhibition,
            spike_penalty=self.spike_penalty,
            held_out=self.validation_fraction if self.early_stopping else 0.0,
            corruption=Corruption.of(self.corruption, self.random_state),
            forget=self.forget,
        )

    def _become(self, fitted: Fitted) -> None:
        """Be this model: after training, and when it is read from a file."""
        weights = fitted.weights
        self.weights_ = weights if self.device is None else weights.on(HOST)
        self.history_ = list(fitted.history)
        self.n_iter_ = fitted.n_iter
        self.reconstruction_err_ = fitted.error
        self.corrupted_err_ = fitted.corrupted_error
        self.error_is_bound_ = fitted.error_is_bound
        self.layer_spike_costs_ = fitted.layer_spike_costs
        self.spike_cost_ = fitted.spike_cost
        self._memory = fitted.memory

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    def transform(self, X: Any, *, refine: int = 0) -> Array:
        """Codes of X: activations of the innermost layer, each in [0, 1].

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.
        refine : int, default=0
            Sweeps of coordinate descent that improve the codes for what :meth:`inverse_transform`
            makes of them: no row's error rises, and they stay in [0, 1]. One sweep gets nearly all
            that codes can give. Codes that are refined are not what the network of
            :meth:`to_network` computes; those of 0 sweeps are. With inhibition there are none.

        Returns
        -------
        codes : array of shape (n_samples, n_code)
            A row for each of X.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
        >>> codes = model.transform(X)
        >>> bool(np.allclose(codes, np.minimum(X @ model.encoders_[0], 1)))
        True
        """
        check_is_fitted(self)
        check_refine(refine, self.weights_.inhibitory is not None)
        return for_frames(self, self._coded(check_data(self, X, reset=False), refine))

    def inverse_transform(self, X: Any) -> Array:
        """Decode the codes X, each row of them to a row of data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_code)
            Codes in [0, 1], such as :meth:`transform` gives.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
            What they stand for, in the units of the data.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
        >>> model.inverse_transform([[0.0, 0.0]])  # nothing comes of nothing
        array([[0., 0., 0., 0.]])
        """
        check_is_fitted(self)
        codes = check_codes(self, X, self._n_features_out)
        return self._reverted(self._given_back(codes, self.weights_.decoding), self.white_)

    def reconstruct(self, X: Any) -> Array:
        """What the network gives back for X: ``inverse_transform(transform(X))``.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
            In the units of the data.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
        >>> error = np.mean((model.reconstruct(X) - X) ** 2)
        >>> bool(np.isclose(error, model.reconstruction_err_))
        True
        """
        check_is_fitted(self)
        rows = check_data(self, X, reset=False)
        return self._reverted(self._given_back(rows), rows.white)

    def impute(self, X: Any) -> Any:
        """X with its missing cells (NaN) filled, in its own units; known cells stay as they are.

        For models that were trained with ``missing="allow"`` or ``"unstored"``. What is filled in
        is the mean of the column for a row that is wholly missing, and never beyond the range that
        the model scales to [0, 1].

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows in memory.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features), or data frame
            A new array; of a data frame of pandas or Polars (whatever ``set_output`` says) a new
            frame, with the same columns and index. There columns of text hold texts, and those that
            the model does not take stay as they are. Columns keep their types, but whole numbers
            become floats where some were missing (unless they have too many digits for that: then
            what is filled in is rounded).

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 1)) * [1, 2, 3]
        >>> X[3, 1] = np.nan
        >>> model = LRNNAutoencoder(1, scale="max", missing="allow").fit(X)
        >>> filled = model.impute(X)
        >>> bool(abs(filled[3, 1] - 2 * X[3, 0]) < 0.1)  # the mean of the column is 1 away
        True
        """
        check_is_fitted(self)
        if self.missing == "refuse":
            raise ValueError(
                f"missing={self.missing!r}: this model was trained to refuse missing cells; train "
                "with missing='allow'"
            )
        unstored = self.missing == "unstored"
        rows = attributes_of(check_data(self, X, reset=False))
        if sparse.issparse(X) and _stored_sparse(rows):  # nothing is missing
            X = full(X, unstored)
            rows = attributes_of(check_data(self, X, reset=False))
        if is_frame(X) and _stored_sparse(rows):
            return X.copy()
        if not rows.resident or _stored_sparse(rows):
            raise ValueError(
                "impute fills cells of full arrays and of tables that fit in memory alone; give it "
                "such, some rows at a time"
            )
        whole = rows.take(slice(None))
        if is_frame(X):
            dropped = () if rows.ledger is None else rows.ledger.dropped
            return filled_frame(X, self.scaling_ or Scaling("none"), to_numpy(whole), dropped)
        filled = to_numpy(self._reverted(whole, rows.white))
        raw = raw_matrix(X, self.scaling_, unstored)
        if raw is None or raw.shape != filled.shape:  # of a file, or rows were left out
            return filled
        known = raw if raw.dtype.kind == "f" else raw.astype(np.float64)
        return np.where(np.isnan(known), filled, known).astype(known.dtype, copy=False)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the mean squared error per attribute on X: the higher, the better.

        Of known cells, if some are missing. Rows may have weights (``sample_weight``), as in
        :meth:`fit`.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            What each row weighs, 0 or more.

        Returns
        -------
        score : float
            At most 0.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
        >>> bool(np.isclose(-model.score(X), model.reconstruction_err_))
        True
        """
        check_is_fitted(self)
        rows = weighted(check_data(self, X, reset=False), sample_weight)
        if rows.gaps is not None:
            error = known_error(rows.gaps, *self._together(rows), rows.of_rows)
            if np.isnan(error):
                raise ValueError("no cell of X is known: there is nothing to score")
            return -error
        return -evaluate(*self._together(rows)).error

    def score_samples(self, X: Any) -> Floats:
        """Minus the mean squared error per attribute of each row: the higher, the more normal.

        Of known cells, if some are missing; NaN for rows without any. Values beyond [0, 1], or
        beyond the range of ``scale``, are cut off before, which hides how far away they are:
        :class:`lrnn.LRNNOutlierDetector` judges rows better.

        Parameters
        ----------
        X : as for :meth:`fit`
            The data.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            At most 0, of NumPy; the mean of those of rows without gaps is :meth:`score`.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder(2, random_state=0).fit(X)
        >>> bool(np.isclose(model.score_samples(X).mean(), model.score(X)))
        True
        """
        check_is_fitted(self)
        rows, weights = self._together(check_data(self, X, reset=False))
        return -row_errors(rows, weights)

    def _coded(self, rows: Rows, refine: int = 0) -> Array:
        """Codes, refined or not."""
        if not refine:
            return self._passed(rows, self.weights_.encoding)
        rows, weights = self._together(rows)
        width, most = self._n_features_out, widest(weights.layers)
        found = rows.transmit(partial(refined, weights, refine), width, weights.dtype, most)
        return self._brought(found)

    def _passed(self, rows: Rows, layers: Sequence[Layer]) -> Array:
        """Activations behind some layers."""
        sent = on_backend(layers, rows.backend)
        return self._brought(transmit(rows.of_type(excitatory_part(sent[0]).dtype), sent))

    def _given_back(self, rows: Rows, layers: Sequence[Layer] | None = None) -> Array:
        """Attributes in [0, 1] behind all layers, or the last ones."""
        layers = self.weights_.layers if layers is None else layers
        if self.scaling_ is None or not self.scaling_.complemented:
            return self._passed(rows, layers)
        sent = on_backend(layers, rows.backend)
        kind = excitatory_part(sent[0]).dtype
        work = partial(_attributes, tuple(sent))
        found = rows.of_type(kind).transmit(work, self.n_features_in_, kind, widest(sent))
        return self._brought(found)

    def _brought(self, found: Array) -> Array:
        """Results for the host come back from a device."""
        return to_numpy(found) if self.device is not None and is_array(found) else found

    def _reverted(self, found: Array, white: float | None) -> Array:
        """Data in their own units; those of levels are levels, if the model scales at all."""
        if not self._scales:
            return found
        assert self.scaling_ is not None
        return self.scaling_.revert(found) * (white or 1)

    @property
    def _scales(self) -> bool:
        """Whether data are given back in their own units; by ``complement`` alone they are not."""
        asked = self.scale is not None or not self.complement
        return self.scaling_ is not None and (asked or self.scaling_.kind != "none")

    def _complements(self, scaling: Scaling | None) -> bool:
        """Whether attributes are presented beside their complements, whatever a scaling says."""
        return self.complement

    def _learnt_filling(self, rows: HostRows | WeightedRows) -> Filling:
        """What fills the gaps of rows to train on."""
        return learn_filling(rows, getattr(self, "feature_names_in_", None))

    def _together(self, rows: Rows, weights: Weights | None = None) -> tuple[Rows, Weights]:
        """Rows and weights, by default the model's, as arrays of one kind, and of one type."""
        weights = (weights or self.weights_).on(rows.backend)
        return rows.of_type(weights.dtype), weights

    @property
    def moment_(self) -> Moment | None:
        """What is kept of the rows of a stream, or was fitted on, as a moment.

        None after a fit on rows, of which nothing is kept, and where rows are kept themselves.
        """
        memory = getattr(self, "_memory", None)
        if memory is None or not isinstance(memory.kept, Sums):
            return None
        names = getattr(self, "feature_names_in_", None)
        return Moment(
            memory.kept.on(HOST),
            host_dtype(self.weights_.dtype),
            None if names is None else tuple(map(str, names)),
            self.scaling_,
            self.white_,
        )

    # The weights, and the network they are

    @property
    def encoders_(self) -> list[Array]:
        """Excitatory weights from the input to the code."""
        return list(self.weights_.encoders)

    @property
    def decoders_(self) -> list[Array]:
        """Excitatory weights from the code to the output."""
        return list(self.weights_.decoders)

    @property
    def inhibitory_encoders_(self) -> list[Array] | None:
        """Inhibitory weights from the input to the code, if there are any."""
        minus = self.weights_.inhibitory
        return None if minus is None else list(minus[: len(self.weights_.encoders)])

    @property
    def inhibitory_decoders_(self) -> list[Array] | None:
        """Inhibitory weights from the code to the output, if there are any."""
        minus = self.weights_.inhibitory
        return None if minus is None else list(minus[len(self.weights_.encoders) :])

    @property
    def components_(self) -> Array:
        """What each code neuron adds to the output: the product of the excitatory decoders.

        In [0, 1] units, not those of the data. Where neurons saturate or inhibit, the output is
        less than codes times these.
        """
        return reduce(matmul, self.weights_.decoders)

    @property
    def firing_rates_(self) -> list[Floats]:
        """Firing rates that the weights need of every layer's neurons, in spikes per unit time.

        With unit rates all are 1. With free ones they are the least that send out such weights; 1
        at the output, and where a neuron leads nowhere.
        """
        return self.weights_.firing_rates(self.rates)

    def to_network(self, least_rate: float = 1.0, *, part: Part = "all") -> RandomNeuralNetwork:
        """The random neural network whose steady state is this model's forward pass.

        Parameters
        ----------
        least_rate : float, default=1.0
            With free rates no neuron fires more slowly than this, which is the paper's rate by
            default; one that need not fire so fast loses the surplus of its spikes. Lower values
            save spikes, but a simulation then takes long to learn the activation of neurons that
            hardly ever receive one.
        part : {"all", "encoder", "decoder"}, default="all"
            The whole network; or that from the input to the code, whose last layer is excited as
            :meth:`transform` says; or that from the code to the output, which does what
            :meth:`inverse_transform` does (before it goes back to the data's own units). A part is
            cut out of the whole network: its neurons, the code neurons too, fire at the rates that
            they have there. So the encoder's spikes are those of the whole network, for nothing
            leads back; and the decoder's code neurons, which then take theirs from outside, fire
            as often as there.

        Returns
        -------
        network : RandomNeuralNetwork
            With a neuron for each attribute, hidden neuron and output, layer by layer.

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder((2,), random_state=0).fit(X)
        >>> encoder = model.to_network(part="encoder")
        >>> encoder.layer_names
        ('input', 'code')
        >>> q = encoder.steady_state(model.arrivals(X, encoder))
        >>> bool(np.allclose(encoder.split(q)[-1], model.transform(X)))
        True
        """
        check_is_fitted(self)
        if isinstance(least_rate, str):
            raise TypeError(
                f"least_rate must be a number, got {least_rate!r}; a part is named by part="
            )
        return self.weights_.to_network(self.rates, least_rate, part)

    def arrivals(self, X: Any, network: RandomNeuralNetwork | None = None) -> Floats:
        """External arrival rates at every neuron of a network that present X to it.

        Parameters
        ----------
        X : as for :meth:`transform`
            The data; for the network of the decoder (which knows that it is one), codes, as for
            :meth:`inverse_transform`.
        network : RandomNeuralNetwork, optional
            What :meth:`to_network` gave; by default, what it gives without arguments.

        Returns
        -------
        arrivals : ndarray of shape (n_samples, n_neurons)
            Spikes per unit time; 0 behind the first layer.

        Examples
        --------
        >>> from lrnn import LRNNAutoencoder
        >>> model = LRNNAutoencoder(1, random_state=0).fit([[0.2, 0.4], [0.5, 1.0]])
        >>> model.arrivals([[0.2, 0.4]]).shape  # 2 inputs, 1 hidden neuron, 2 outputs
        (1, 5)
        """
        check_is_fitted(self)
        part: Part = "all"
        if network is None:
            rates = np.concatenate(self.weights_.firing_rates(self.rates, least=1.0))
        elif isinstance(network, RandomNeuralNetwork):
            rates, part = network.rates, self.weights_.part_of(network)
        else:
            raise TypeError(f"network must be what to_network returned, got {network!r}")
        if part == "decoder":
            rows = check_codes(self, X, self._n_features_out)
        else:
            rows = check_data(self, X, reset=False)
        return arrivals_at(rows, rates)

    def audit(self, X: Any = None) -> Audit:
        """Row sums and firing rates, layer by layer.

        For data X also saturated neurons, and where the error stands between the data's variance
        and the lowest that is possible (see `lrnn.bounds`).

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
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder((2,), rates="unit", random_state=0).fit(X)
        >>> model.audit(X).valid
        True
        """
        check_is_fitted(self)
        if X is None:
            return audit(self.weights_, self.rates)
        rows, together = self._together(check_data(self, X, reset=False))
        standing = stand(rows, together, self.rates)
        return audit(self.weights_, self.rates, ever_saturated(rows, together), standing)

    # Doors to rooms above: files, and other libraries

    def save(self, path: str | PathLike[str], *, moment: bool | None = None) -> None:
        """Write the model to a safetensors file; :func:`lrnn.load` reads it back.

        Parameters
        ----------
        path : str or path-like
            The file. It is replaced as a whole, or not at all.
        moment : bool, optional
            Whether ``moment_`` is kept, such that :meth:`partial_fit` goes on as if nothing had
            happened; it takes 8 bytes for each pair of attributes. By default that of a stream is,
            and one that was given to :meth:`fit` is not. True where there is none is an error.
            (Rows that are kept in the place of a moment are never written.)

        Examples
        --------
        >>> import tempfile
        >>> import lrnn
        >>> model = lrnn.LRNNAutoencoder(1, random_state=0).fit([[0.2, 0.4], [0.5, 1.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.safetensors")
        ...     lrnn.load(f"{folder}/model.safetensors")
        LRNNAutoencoder(hidden_layer_sizes=1, random_state=0)
        """
        from lrnn.storage.model_files import save

        check_is_fitted(self)
        save(self, path, moment=moment)

    def to_torch(self, *, scaling: bool | None = None) -> Any:
        """A plain PyTorch module that does what this model does, for ``torch`` tensors of its type.

        ``module(X)`` is the reconstruction, ``module.encoder(X)`` the codes, and
        ``module.decoder(codes)`` what they stand for, both in [0, 1] (``scaling_.revert``
        brings them back to the units of the data). It knows nothing of lrnn. If the model presents
        attributes beside their complements, so does the module.

        Parameters
        ----------
        scaling : bool, optional
            Whether the module begins with the model's own scaling (``scaling_``, or the division of
            levels by the highest), and takes raw rows as :meth:`transform` does. (Columns of text
            are never taken, nor missing cells filled; a warning tells what takes their place.) By
            default it takes rows in [0, 1], with a warning if the model does scale.

        Returns
        -------
        module : torch.nn.Sequential
            On the CPU.
        """
        from lrnn.storage.export import to_torch

        return to_torch(self, scaling=scaling)

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
        X : as for :meth:`transform`, optional
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
        >>> from sklearn.datasets import load_digits
        >>> from lrnn import LRNNAutoencoder
        >>> X = load_digits().data / 16
        >>> model = LRNNAutoencoder(16, random_state=0).fit(X)
        >>> model.live(X, shape=(8, 8))
        LivePage()
        """
        from lrnn.live.page import page_of

        check_is_fitted(self)
        return page_of(self, X, rows, shape, against)

    @property
    def _n_features_out(self) -> int:
        return int(self.weights_.encoders[-1].shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _stored_sparse(rows: Rows) -> bool:
    """Whether these are rows of a sparse matrix in memory."""
    return isinstance(rows, HostRows) and rows.stored_sparse


def _attributes(layers: Sequence[Layer], block: Array) -> Array:
    """What a block becomes behind layers that end in attributes and their complements."""
    return complement_decoded(through(layers, block))
