"""The autoencoder as a scikit-learn estimator: its parameters, and what it does with data."""

from collections.abc import Sequence
from functools import reduce
from numbers import Integral, Real
from operator import matmul
from os import PathLike
from typing import Any, Literal, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from lrnn.arrays import Array, Floats, Layer, Rates, backend_of, is_array, to_numpy
from lrnn.learns import Learns
from lrnn.moments import MomentKind
from lrnn.progress import CallbackSupportMixin
from lrnn.rows import of_type
from lrnn.training import evaluate, excitatory, transmit
from lrnn.validation import check_codes, check_data, read_once


class LRNNAutoencoder(
    Learns,
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
    hidden_layer_sizes : int or sequence of int, default=(100,)
        Widths of the encoding layers; the last one is the code. The decoder mirrors them.
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
    init : {"anchors", "random"}, optional
        Initial weights: profiles of well-chosen attributes (for the gram solver, its default), or
        random ones.
    moment : {"auto", "dense", "implicit"}, default="auto"
        How the gram solver knows the second moment: as a matrix, or only through products with
        the data. The cheaper one by default.
    batch_size : int, default=100
        Rows in a minibatch. Training end to end takes more, where a pass would have over 128 steps.
    max_iter : int, default=200
        Most full-batch steps of the gram solver (for each layer, if they are trained one after the
        other), or passes over the data.
    tol : float, default=1e-4
        Training ends when the lowest error has fallen by less than this share in ten steps or
        passes. 0 never ends it.
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
    device : str, optional
        "cuda" (or "cuda:1" …) sends NumPy data to a GPU, through PyTorch or CuPy, and brings the
        results back. By default work is done where the data are: arrays of torch and CuPy stay on
        their device, and so do weights and codes.
    random_state : int, RandomState instance or None, default=None
        Determines the initial weights and the minibatches.
    verbose : int, default=0
        Show a progress bar if above 0.

    Attributes
    ----------
    encoders_, decoders_ : list of ndarray
        Excitatory weights from the input to the code and from the code to the output.
    inhibitory_encoders_, inhibitory_decoders_ : list of ndarray, or None
        Inhibitory ones, if there are any.
    components_ : ndarray of shape (n_code, n_features)
        What each code neuron adds to the output: the product of the decoders.
    firing_rates_ : list of ndarray
        Firing rates that the weights need of every layer's neurons; the output layer's are 1.
    spike_cost_ : float
        Firings per unit time of the input and hidden layers at these rates, on average over the
        training data.
    layer_spike_costs_ : ndarray
        The same, for each of these layers. (Neurons that lead nowhere need not fire.)
    reconstruction_err_ : float
        Mean squared error per attribute on the training data.
    history_ : list of LearningCurve
        Errors after each iteration and each evaluation, one curve per trained layer pair (one
        for all, if trained together; one more for fine-tuning and each :meth:`partial_fit`).
    n_iter_ : int
        Full-batch steps or passes over the data that were made, by the stage that took the most.
    n_features_in_ : int
        Number of attributes.
    feature_names_in_ : ndarray of str
        Their names, where the data had names.
    scaling_ : object or None
        What :meth:`save` was told of how raw data were scaled to [0, 1].

    Notes
    -----
    Values above 1 are saturated to 1, as the model says, and errors are taken against that.
    Arrays of unsigned 8- and 16-bit integers are read as levels: 255 (65,535) is 1.
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
        "hidden_layer_sizes": ["array-like", Interval(Integral, None, None, closed="neither")],
        "solver": [StrOptions({"minibatch", "gram"})],
        "rates": [StrOptions({"free", "unit"})],
        "stacking": [StrOptions({"layerwise", "joint"})],
        "fine_tune": [Interval(Integral, 0, None, closed="left")],
        "init": [StrOptions({"anchors", "random"}), None],
        "moment": [StrOptions({"auto", "dense", "implicit"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "evaluate_every": [Interval(Integral, 1, None, closed="left"), None],
        "inhibition": ["boolean"],
        "spike_penalty": [Interval(Real, 0, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "device": [str, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        *,
        solver: Literal["gram", "minibatch"] = "gram",
        rates: Rates = "free",
        stacking: str = "layerwise",
        fine_tune: int = 0,
        init: str | None = None,
        moment: MomentKind = "auto",
        batch_size: int = 100,
        max_iter: int = 200,
        tol: float = 1e-4,
        evaluate_every: int | None = None,
        inhibition: bool = False,
        spike_penalty: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        device: str | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
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
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data, best scaled to [0, 1]. Besides arrays of NumPy, SciPy, pandas, torch
            and CuPy these may be data that do not fit in memory: a memory map, the name of a .npy,
            .parquet, .zarr or .h5 file, an array of Zarr or HDF5, a function that gives an
            iterator of blocks of rows, or a Dask array or dataframe.
        y : None
            Ignored.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Train on X and return its codes: the same as ``fit(X).transform(X)``."""
        inputs = self._fit(X)
        return self._given_back(self._transmitted(inputs, self._encoding), X)

    def transform(self, X: Any) -> Array:
        """Codes of X: activations of the innermost layer, each in [0, 1]."""
        check_is_fitted(self)
        codes = read_once(self, X, lambda rows: self._transmitted(rows, self._encoding))
        return self._given_back(codes, X)

    def inverse_transform(self, X: Any) -> Array:
        """Decode the codes X, each row of them to a row of data in [0, 1]."""
        check_is_fitted(self)
        return self._transmitted(check_codes(self, X, self._n_features_out), self._decoding)

    def reconstruct(self, X: Any) -> Array:
        """What the network gives back for X: ``inverse_transform(transform(X))``."""
        check_is_fitted(self)
        layers = self._weights.layers
        return self._given_back(read_once(self, X, lambda r: self._transmitted(r, layers)), X)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared error per attribute on X: the higher, the better."""
        check_is_fitted(self)
        inputs = check_data(self, X, reset=False)
        return -evaluate(*self._together(inputs)).error

    def _transmitted(self, inputs: Any, layers: Sequence[Layer]) -> Array:
        send = backend_of(inputs).send
        sent = [tuple(map(send, w)) if isinstance(w, tuple) else send(w) for w in layers]
        return transmit(of_type(inputs, excitatory(sent[0]).dtype), sent)

    def _given_back(self, found: Array, X: Any) -> Array:
        """Results for data of the host, back from a device."""
        return to_numpy(found) if self.device is not None and is_array(found) else found

    @property
    def components_(self) -> Floats:
        """What each code neuron adds to the output: the product of the decoders."""
        return reduce(matmul, self.decoders_)

    def save(self, path: str | PathLike[str], *, scaling: Any = None) -> None:
        """Write the model to a safetensors file; :func:`lrnn.load` reads it back.

        Parameters
        ----------
        path : str or path-like
            The file. It is replaced as a whole, or not at all.
        scaling : JSON-serialisable, optional
            How raw data were brought to [0, 1], for example ``{"divide by": 255}``. It is kept in
            the file and found again as ``scaling_``.
        """
        from lrnn.storage.model_files import save

        check_is_fitted(self)
        if scaling is not None:
            self.scaling_ = scaling
        save(self, path)

    def to_torch(self) -> Any:
        """A plain PyTorch module that does what this model does, for ``torch`` tensors of its type.

        ``module(X)`` is the reconstruction, ``module.encoder(X)`` the codes, and
        ``module.decoder(codes)`` what they stand for. It knows nothing of lrnn, nor of scaling.
        """
        from lrnn.storage.export import to_torch

        return to_torch(self)

    @property
    def _n_features_out(self) -> int:
        return int(self.encoders_[-1].shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
