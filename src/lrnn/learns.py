"""What an autoencoder does to learn: it checks, chooses, delegates, and keeps what comes out."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Self

from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from lrnn.arrays import HOST, Array, Floats
from lrnn.as_network import AsNetwork
from lrnn.functional import firings
from lrnn.moments import MomentKind
from lrnn.progress import watching
from lrnn.training import (
    Evaluation,
    LearningCurve,
    Observer,
    Plan,
    Schedule,
    Trained,
    evaluate,
    random_weights,
    train,
    train_jointly,
    train_on_part,
)
from lrnn.validation import (
    check_data,
    check_inhibition,
    check_layer_sizes,
    check_order,
    check_solver,
)


class Learns(AsNetwork):
    """The side of an autoencoder that is trained."""

    hidden_layer_sizes: Any
    solver: Literal["gram", "minibatch"]
    stacking: str
    fine_tune: int
    init: str | None
    moment: MomentKind
    batch_size: int
    max_iter: int
    tol: float
    evaluate_every: int | None
    inhibition: bool
    spike_penalty: float
    early_stopping: bool
    validation_fraction: float
    device: str | None
    random_state: Any
    history_: list[LearningCurve]
    n_iter_: int
    scaling_: Any
    reconstruction_err_: float
    spike_cost_: float
    layer_spike_costs_: Floats

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, *watchers: Observer) -> Array:
        inputs = check_data(self, X, reset=True)
        self._random = check_random_state(self.random_state)
        trained = self._train(inputs, watchers)
        self._become(trained, trained.evaluation or evaluate(inputs, trained.weights))
        return inputs

    def _become(self, trained: Trained, evaluation: Evaluation) -> None:
        """Be the model that was trained."""
        self.history_ = []
        self.n_iter_ = max(1, *(curve.passes for curve in trained.curves))  # the data were read
        self.scaling_ = None
        self._keep(trained, evaluation)

    def _train(self, inputs: Any, watchers: Iterable[Observer]) -> Trained:
        plan, sizes = self._plan(inputs), self._sizes(inputs)
        passes = plan.most_passes(sizes, inputs.shape[0])
        with watching(self, inputs, passes, *watchers) as observer:
            return train(plan, inputs, sizes, self._random, observer)

    def _plan(self, inputs: Any) -> Plan:
        check_solver(self.solver, self.init)
        check_inhibition(self, inputs.shape[0])
        check_order(inputs, self.solver, self.rates, self.fine_tune, self.inhibition)
        return Plan(
            schedule=self._schedule(),
            solver=self.solver,
            layerwise=self.stacking == "layerwise",
            anchors=self.init != "random",
            moment=self.moment,
            inhibition=self.inhibition,
        )

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Go on training with one pass over X: one part of a stream.

        All layers are trained with each minibatch (the paper's Algorithms 1 and 3, or as ``fit``
        does with inhibition), whatever ``solver`` and ``stacking`` say. Later parts may have any
        number of rows; ``reconstruction_err_`` is that on the newest part.
        """
        first = not hasattr(self, "encoders_")
        inputs = check_data(self, X, reset=first)
        check_order(inputs, "minibatch", self.rates, 0)
        check_inhibition(self, inputs.shape[0])
        if not hasattr(self, "_random"):
            self._random = check_random_state(self.random_state)
        sizes, schedule = self._sizes(inputs), replace(self._schedule(), max_iter=1)
        weights = None
        if not first:
            inputs, weights = self._together(inputs)
        with watching(self, inputs, 1) as observer:
            if self.inhibition:
                trained = train_on_part(inputs, weights, sizes, schedule, self._random, observer)
            else:
                weights = weights or random_weights(sizes, self._random, inputs)
                trained = train_jointly(inputs, weights, schedule, self._random, observer)
        if first:
            self.history_, self.n_iter_, self.scaling_ = [], 0, None
        self.n_iter_ += 1
        self._keep(trained, evaluate(inputs, trained.weights))
        return self

    def _sizes(self, inputs: Array) -> tuple[int, ...]:
        return (inputs.shape[1], *check_layer_sizes(self.hidden_layer_sizes))

    def _schedule(self) -> Schedule:
        return Schedule(
            self.batch_size,
            self.max_iter,
            self.tol,
            self.evaluate_every,
            self.rates,
            self.fine_tune,
            self.spike_penalty,
            self.validation_fraction if self.early_stopping else 0.0,
        )

    def _keep(self, trained: Trained, evaluation: Evaluation) -> None:
        weights = trained.weights if self.device is None else trained.weights.on(HOST)
        self.encoders_ = list(weights.encoders)
        self.decoders_ = list(weights.decoders)
        minus = weights.inhibitory
        half = len(self.encoders_)
        self.inhibitory_encoders_ = None if minus is None else list(minus[:half])
        self.inhibitory_decoders_ = None if minus is None else list(minus[half:])
        self.history_ += trained.curves
        self.reconstruction_err_ = evaluation.error
        own = self._effective_weights(), self._effective_inhibition()
        self.layer_spike_costs_ = firings(self.firing_rates_, evaluation.mean_activations, *own)
        self.spike_cost_ = float(self.layer_spike_costs_.sum())
        if trained.curves[-1].stopped == "interrupted":
            warnings.warn(
                f"training was interrupted after {trained.curves[-1].passes} passes or full-batch "
                "steps; the best weights so far are kept",
                stacklevel=4,
            )
