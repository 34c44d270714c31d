"""Adam on a scale that keeps weights above 0, minibatch by minibatch: each goes its own pace.

On a logarithmic scale a step multiplies a weight; on that of square roots all weights of a layer
move by as much. The size of the steps follows a schedule: one size first, and then smaller and
smaller ones.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from array_api_compat import array_namespace, is_numpy_array

from lrnn.arrays import Array, Rates, backend_of
from lrnn.functional import (
    free_gradient,
    reroot,
    reroute,
    reweight,
    root_gradient,
    route_gradient,
)
from lrnn.functional.gradients import LARGEST, smallest
from lrnn.moments import Corruption
from lrnn.network.weights import Weights
from lrnn.training import states
from lrnn.training.history import Batches, History, MinibatchStepper
from lrnn.training.states import State

MEAN, SQUARE = 0.9, 0.999  # how much of their past the running means keep
CELLS_IN_CACHE = 1 << 15
MOST_STEPS = 1 << 62
TINY = 1e-30  # keeps running means off subnormal numbers, on which processors are slow

STEP = 0.1  # by which share a weight changes at most, at first
CHEAP = 1e-2  # share of the penalty of a spike at which a network from scratch starts
RISE = 0.5  # share of the passes after which it has to pay the full penalty
BOLD = 2.5  # size of the steps on roots, beside those on logarithms
LATER = 0.3  # size of the steps on a later part of a stream, beside those on the first

Gradients = Callable[[Array, Array, Any, Any], tuple[Array, Sequence[Array]]]


def _one(_weight: Array) -> float:
    return 1.0


def _roots(weight: Array) -> float:
    """So large are the roots of weights: root of the mean of their squares."""
    xp = array_namespace(weight)
    return BOLD * sqrt(float(xp.mean(weight)))


@dataclass(frozen=True)
class Scale:
    """A scale on which weights move.

    Attributes
    ----------
    gradient : callable
        ``gradient(weights, gradient)`` on this scale.
    move : callable
        ``move(weights, change)``: the weights after a change on this scale.
    unit : callable
        Of such weights as these were at first, how large steps are.
    """

    gradient: Callable[[Array, Array], Array]
    move: Callable[[Array, Array], Array]
    unit: Callable[[Array], float] = _one


LOGARITHMS = Scale(free_gradient, reweight)
ROUTES = Scale(route_gradient, reroute)
ROOTS = Scale(root_gradient, reroot, _roots)


class Adam:
    """Steps of relative size on ``weights``, which are changed in place.

    Under unit rates each row of weights sums to at most 1 after every step.
    """

    def __init__(self, weights: Sequence[Array], rates: Rates, roots: bool = False) -> None:
        self.weights, self._rates = weights, rates
        self._on = ROUTES if rates == "unit" else ROOTS if roots else LOGARITHMS
        self._units = [self._on.unit(weight) for weight in weights]
        self._fused = self._on is not ROUTES and backend_of(weights[0]).on_gpu
        self._means = [0 * w for w in weights]
        self._squares = [0 * w for w in weights]
        self._steps = 0

    def state(self) -> State:
        """All that the next step depends on."""
        return {
            "weights": list(self.weights),
            "means": self._means,
            "squares": self._squares,
            "steps": self._steps,
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self._steps = states.whole(state["steps"], "number of steps", MOST_STEPS)
        parts = {"weights": self.weights, "means": self._means, "squares": self._squares}
        for name, own in parts.items():
            for one, kept in zip(own, states.matrices(state[name], own, name), strict=True):
                one[...] = kept

    @property
    def steps(self) -> int:
        """Steps that were made."""
        return self._steps

    def scale(self, size: float) -> float:
        """What the next `step` is told, such that no logarithm changes by much more than this."""
        self._steps += 1
        return size / (1 - MEAN**self._steps) * sqrt(1 - SQUARE**self._steps)

    def step(self, gradients: Sequence[Array], scale: Any) -> None:
        """Move against the gradients."""
        every = zip(self.weights, gradients, self._means, self._squares, strict=True)
        for unit, matrices in zip(self._units, every, strict=True):
            rows, columns = matrices[0].shape
            size = scale * unit
            if self._fused:
                self._step_on_gpu(*matrices, size)
                continue
            height = max(1, CELLS_IN_CACHE // columns) if is_numpy_array(matrices[0]) else rows
            for first in range(0, rows, height):
                weight, gradient, mean, square = (m[first : first + height, :] for m in matrices)
                self._step(weight, gradient, mean, square, size)

    def _step_on_gpu(
        self, weight: Array, gradient: Array, mean: Array, square: Array, size: Any
    ) -> None:
        """The same as `_step`, in one kernel."""
        from lrnn.functional.cuda_adam import step

        roots = self._on is ROOTS
        least = smallest(weight)
        step(
            weight, gradient, mean, square, size, roots=roots, keep=(MEAN, SQUARE), tiny=TINY,
            least=sqrt(least) if roots else least, most=LARGEST,
        )  # fmt: skip

    def _step(self, weight: Array, gradient: Array, mean: Array, square: Array, size: Any) -> None:
        xp = array_namespace(weight)
        gradient = self._on.gradient(weight, gradient)
        mean *= MEAN
        mean += (1 - MEAN) * gradient + TINY
        square *= SQUARE
        square += (1 - SQUARE) * gradient * gradient + TINY
        weight[...] = self._on.move(weight, -size * mean / xp.sqrt(square))


class StepSchedule:
    """Steps of one size, and then of smaller and smaller ones.

    Parameters
    ----------
    passes : int
        Over the data.
    steady : float
        So many of them with steps of one size.
    tol : float
        Progress is a fall of the lowest error by this share.
    patience : int, optional
        Without progress during so many passes steps become smaller at once.
    ends : bool
        And the next time training ends.
    cheap : bool
        The penalty of a spike rises to its full height on the way.
    later : bool
        This is a later part of a stream, of which weights learn less.
    """

    def __init__(
        self,
        passes: int,
        steady: float,
        *,
        tol: float = 0.0,
        patience: int | None = None,
        ends: bool = False,
        cheap: bool = False,
        later: bool = False,
    ) -> None:
        self.passes = self._planned = passes
        self._steady, self._share = steady, steady / passes
        self._rise = RISE * passes if cheap else 0.0
        self._waiting_since = self._rise
        self._tol, self._patience, self._ends, self._later = tol, patience, ends, later

    @property
    def cut_short(self) -> bool:
        """Whether there are fewer passes than planned, for lack of progress."""
        return self.passes < self._planned

    def size(self, done: float) -> float:
        """The size of a step after so many passes."""
        if self._later:
            return STEP * LATER
        return STEP * min(1.0, (self.passes - done) / (self.passes - self._steady))

    def penalty(self, done: float) -> float:
        """The penalty of a spike after so many passes, as a share of the full one."""
        return float(CHEAP ** (1 - done / self._rise)) if done < self._rise else 1.0

    def adapt(self, history: History) -> None:
        """Where there was no progress for too long, what is left becomes shorter."""
        now, patience = history.passes, self._patience
        if not patience or now - self._waiting_since < patience:
            return
        steady = now < self._steady
        if history.progress(patience) >= self._tol or not (steady or self._ends):
            return
        if steady:
            self._steady = now
            self.passes = min(self.passes, max(now + 1, math.floor(now / self._share)))
        else:
            self.passes = now
        self._waiting_since = now

    def state(self) -> State:
        """All that changes."""
        return {
            "passes": self.passes,
            "steady": self._steady,
            "waiting_since": self._waiting_since,
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self.passes = states.whole(state["passes"], "number of passes", self._planned)
        for name in ("steady", "waiting_since"):
            states.number(state[name], "schedule")
        self._steady, self._waiting_since = state["steady"], state["waiting_since"]


class Descent(MinibatchStepper):
    """Steps batch by batch; the best weights on the way are kept.

    Parameters
    ----------
    start, current : Weights
        What must be bettered, and what steps are made on, in place.
    parameters : sequence of arrays
        The matrices of ``current``.
    gradients : callable
        ``gradients(inputs, targets, share, step)`` gives the mean error on a batch, a number, and
        the gradients by the parameters; ``share`` is that of the full penalty of a spike, ``step``
        the number of the batch.
    corruption : Corruption, optional
        Inputs are samples of corrupted batches, new ones in each step.
    targets : callable, optional
        ``targets(numbers)`` of rows is what these should become; by default, themselves.
    roots : bool
        Whether steps are made on square roots of weights.
    """

    def __init__(
        self,
        batches: Batches,
        start: Weights,
        current: Weights,
        parameters: Sequence[Array],
        gradients: Gradients,
        rates: Rates,
        schedule: StepSchedule,
        history: History,
        corruption: Corruption | None = None,
        targets: Callable[[Array], Array] | None = None,
        roots: bool = False,
    ) -> None:
        super().__init__(batches, history)
        self._corruption, self._targets = corruption, targets
        self._start, self._current, self._gradients = start, current, gradients
        self._adam, self._schedule, self._rates = Adam(parameters, rates, roots), schedule, rates
        self._one: Callable[..., Array] = self._on_batch
        if batches.rows.held_on_device and batches.rows.backend.on_gpu:
            from lrnn.training.cuda_graph import as_graph

            self._one = as_graph(self._on_batch, batches.rows.backend)

    def _on_batch(self, numbers: Array, scale: Any, share: Any, step: Any) -> Array:
        batch = self.batches.part.take(numbers)
        inputs = batch if self._corruption is None else self._corruption.of_batch(batch, step)
        targets = batch if self._targets is None else self._targets(numbers)
        error, gradients = self._gradients(inputs, targets, share, step)
        self._adam.step(gradients, scale)
        return error

    @property
    def most(self) -> int:  # type: ignore[override]
        """As many passes as the schedule has."""
        return self._schedule.passes

    def begin(self) -> None:
        """Evaluate what must be bettered."""
        self.history.evaluate(self._start)

    def step(self, iteration: Callable[[], None]) -> None:
        """One pass."""
        for numbers in self.batches:
            done = self.iterations / len(self.batches)
            scale = self._adam.scale(self._schedule.size(done))
            share = self._schedule.penalty(done)
            self.history.batch(self._one(numbers, scale, share, self.iterations))
            iteration()
        self.history.finish_pass(self._current.copy())
        self._schedule.adapt(self.history)

    def error(self) -> float:
        """That of the best weights so far."""
        return self.history.error

    def stalled(self) -> bool:
        """Whether it has ended early."""
        return self._schedule.cut_short and self.steps >= self._schedule.passes

    def interrupt(self) -> None:
        """The weights of an unfinished pass may be the best."""
        self.history.evaluate(self._current.copy())

    def state(self) -> State:
        """All that the next pass depends on."""
        return {
            "adam": self._adam.state(),
            "record": self.history.state(),
            "random": self.batches.random.get_state(legacy=False),
            "pace": self._schedule.state(),
        }

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self._adam.restore(state["adam"])
        self.history.restore(state["record"], len(self.batches))
        states.random_numbers(state["random"], self.batches.random)
        self._schedule.restore(state["pace"])
