"""What training takes and gives: weights, a schedule, learning curves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import Array, Backend, Floats, Layer, Rates, copied
from lrnn.training.observer import State

if TYPE_CHECKING:
    from lrnn.training.evaluation import Evaluation

StopReason: TypeAlias = Literal["max_iter", "tol", "interrupted", "callback"]


@dataclass(frozen=True)
class Weights:
    """The weights of an autoencoder, in the order in which spikes pass them.

    ``encoders[m]`` is the paper's W_{m+1}; ``decoders[m]`` its W̄_{m+1}, so that encoder *m* and
    decoder *M−1−m* are a pair: they lead to and from the same layer width.
    """

    encoders: tuple[Array, ...]
    decoders: tuple[Array, ...]
    inhibitory: tuple[Array, ...] | None = None  # from the input to the output, if there are any

    @property
    def excitatory(self) -> tuple[Array, ...]:
        """All excitatory matrices, from the input to the output."""
        return (*self.encoders, *self.decoders)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What spikes pass, from the input to the output."""
        if self.inhibitory is None:
            return self.excitatory
        return tuple(zip(self.excitatory, self.inhibitory, strict=True))

    def copy(self) -> "Weights":
        """The same numbers in arrays of their own."""
        return self.each(copied)

    def each(self, change: Callable[[Array], Array]) -> "Weights":
        """Every matrix, changed."""
        minus = None if self.inhibitory is None else tuple(map(change, self.inhibitory))
        return Weights(tuple(map(change, self.encoders)), tuple(map(change, self.decoders)), minus)

    def on(self, backend: Backend) -> "Weights":
        """The same numbers as arrays of a backend."""
        return self.each(backend.send)

    def state(self) -> State:
        """As a checkpoint keeps it."""
        found: State = {"encoders": list(self.encoders), "decoders": list(self.decoders)}
        if self.inhibitory is not None:
            found["inhibitory"] = list(self.inhibitory)
        return found

    @classmethod
    def restored(cls, state: State, backend: Backend) -> "Weights":
        """What `state` gave, as arrays of a backend."""
        minus = tuple(state["inhibitory"]) if "inhibitory" in state else None
        return cls(tuple(state["encoders"]), tuple(state["decoders"]), minus).on(backend)


@dataclass(frozen=True)
class Schedule:
    """How long and in what steps to train."""

    batch_size: int = 100
    max_iter: int = 200
    tol: float = 1e-4
    evaluate_every: int | None = None
    rates: Rates = "free"
    fine_tune: int = 0
    spike_penalty: float = 0.0
    held_out: float = 0.0


@dataclass(frozen=True)
class LearningCurve:
    """How the error fell.

    Attributes
    ----------
    layer : int or None
        The layer pair that was trained, counted from 1; None if all were trained together.
    batch_errors : ndarray
        After each iteration, the mean squared error on the minibatch it has just used.
    iterations, errors, seconds : ndarray
        After how many iterations and seconds of training the error on all rows was taken, and
        what it was. The evaluations' own time does not count.
    passes : int
        Passes over the data.
    stopped : {"max_iter", "tol", "interrupted", "callback"}
        What ended the training.
    """

    layer: int | None
    batch_errors: Floats
    iterations: NDArray[np.int64]
    errors: Floats
    seconds: Floats
    passes: int
    stopped: StopReason

    @property
    def lowest(self) -> float:
        """Lowest error on all rows (that of the weights which were kept)."""
        return float(self.errors.min())


@dataclass(frozen=True)
class Trained:
    """The best weights that were seen, and how they were found."""

    weights: Weights
    curves: Sequence[LearningCurve]
    evaluation: "Evaluation | None" = None  # of these weights, where training has made it

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or a callback ended the training."""
        return self.curves[-1].stopped in ("interrupted", "callback")
