r"""How far estimates may be off after a finite time, by theory.

Spikes are conserved. With :math:`B_i` the time for which neuron *i* was excited until T, what is in
a network without inhibition changes by

.. math:: k(T) - k(0) = \Lambda T - (I - P^\top) R\, B + M(T) ,

where P are the probabilities of routes, R the rates, and M is a martingale: what Poisson processes
do beyond their mean. So B is known exactly up to noise. With the response :math:`J = ((I - P^\top)
R)^{-1} = \partial q / \partial \Lambda` (see `lrnn.network.response`)

.. math:: B - q T = J\, (M(T) - k(T) + k(0)) .

**Bias.** Let a run end with :math:`w_i` spikes more in each neuron, on average, than it began
with. Activations over T are too low by :math:`b/T, b = J w`: as if so many spikes fewer had come.
By :math:`dk/dq = 1/(1-q)^2` mean potentials are too low by :math:`b/T (1-q)^2`, and what arrives
lacks that which has come and waits, :math:`(b - w/D)/T`. A run that begins empty has :math:`w =
q/(1-q)`; a first part that is left out takes most of that with it. Near saturation a potential
is like a random walk until then, and :math:`w = \sqrt{4DT/\pi}`, which grows with T. A saturated
neuron with inflow :math:`N > D` is idle for :math:`1/(N - D)` or, until that time, for
:math:`\sqrt{4T/\pi D}`. A run that ends right after so many events is seen at a moment when more
spikes wait than at others: by :math:`w_i = q_i r_i / R` where R events happen per unit time (see
`potential_at_events`).

**Variance.** In steady state the covariance of M is :math:`F (I - P) + (I - P^\top) F` per unit
time, with the flows :math:`F = R\,q`. So :math:`T\, \mathrm{Var}(B/T) \to 2 q_i J_{ii}`. Likewise
for what arrives, :math:`2 q_i J_{ii} - q_i/D_i`; and the mean potential of a neuron with Poisson
arrivals has :math:`2 q_i (1 + q_i) J_{ii} / (1 - q_i)^4`. Looks at intervals of h, in a simulation
whose clocks ring :math:`\nu` times per unit time, add :math:`(h - 2/\nu) \mathrm{Var}(f)` at most
to those of a function f of the state; and ticks tell the time that arrivals are divided by, which
takes :math:`q_i^2 / \nu`.

With inhibition this is what linear response gives, an approximation.

So the relative variance of a mean potential is :math:`1/m` after m times :math:`2 J_{ii} (1 +
q)/(q (1 - q)^2)`, the neuron's *memory*: nearly :math:`4/((1-q)^2 r)` near saturation.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.network.gradient import drive
from lrnn.network.response import own_response, response
from lrnn.spiking.estimators import ESTIMATORS, Estimator

FAR_OFF = 0.25  # an error after which an activation tells nothing
NORMAL = 1.96  # standard deviations of 95 %


@dataclass(frozen=True)
class Uncertainty:
    """What is needed to tell how far the estimates of some rows may be off.

    Attributes
    ----------
    network : RandomNeuralNetwork
        What is simulated.
    arrivals, inhibition : ndarray of shape (n_rows, n_neurons)
        Spikes that come from outside per unit time; no inhibitory ones are None.
    q : ndarray of the same shape
        Activations in steady state.
    empty, by_events : bool
        Whether runs begin empty, and whether they end after so many events.
    time : ndarray of shape (n_rows, 1)
        How long a run is, about.
    pace : ndarray of shape (n_rows, 1)
        Events per unit time.
    passed : ndarray of shape (n_rows, 1)
        Time from the beginning of the run that is left out.
    tick : ndarray of shape (n_rows, 1)
        Mean time between ticks; 0 where time is not told by ticks.
    between : ndarray of shape (4, n_rows, 1)
        Time between looks at the potentials, for each estimator.
    """

    network: RandomNeuralNetwork
    arrivals: Floats
    inhibition: Floats | None
    q: Floats
    empty: bool
    by_events: bool
    time: Floats
    pace: Floats
    passed: Floats
    tick: Floats
    between: Floats

    @cached_property
    def late(self) -> "Late":
        """What runs lack because they begin empty."""
        return Late.of(
            self.network, self.arrivals, self.inhibition, self.q, self.time[:, 0], self.empty
        )

    @cached_property
    def own(self) -> Floats:
        """Response of each neuron to one more spike of its own per unit time."""
        return own_response(self.network.stages, self.network.rates, self.q, self.capacity)

    @cached_property
    def ending(self) -> Floats:
        """Spikes that wait because a run ends with an event, w, and time that is missing, b."""
        found = np.zeros((2, *self.q.shape))
        if self.by_events:
            stages, rates = self.network.stages, self.network.rates
            found[0] = np.where(self.q < 1, self.q * rates / self.pace, 0)
            found[1] = response(stages, rates, self.q, self.capacity, found[0], 0 * self.q)
        return found

    @property
    def capacity(self) -> Floats:
        """Spikes that a neuron can handle per unit time, D."""
        return self.late.capacity

    def rows(self, some: Any) -> Self:
        """That of some rows; what has been worked out for all is not worked out again."""
        names = ("arrivals", "q", "time", "pace", "passed", "tick", "between")
        parts = {name: getattr(self, name)[..., some, :] for name in names}
        if self.inhibition is not None:
            parts["inhibition"] = self.inhibition[some]
        found = replace(self, **parts)
        for name in {"late", "own", "ending"} & {*self.__dict__}:
            value = self.__dict__[name]
            found.__dict__[name] = (
                Late(*(each[..., some, :] for each in value))
                if isinstance(value, Late)
                else value[..., some, :]
            )
        return found

    def after(self, time: Floats) -> Self:
        """That of a part of the runs, from this time on."""
        return replace(self, passed=self.passed + time[:, None])

    @property
    def mean(self) -> Floats:
        """Mean potentials in steady state; infinite where saturated."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.q / (1 - self.q))

    def dispersion(self, estimator: Estimator) -> Floats:
        """Variance over mean of an estimate, times the time that it is from."""
        q, free, tick = self.q, 1 - self.q, self.tick
        between = self.between[ESTIMATORS.index(estimator)]
        looks = np.where(tick > 0, np.maximum(between - 2 * tick, -tick), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            if estimator == "arrivals":
                found = 2 * self.own - 1 / self.capacity - q * tick
            elif estimator == "busy":
                found = 2 * self.own + free * looks
            else:
                found = 2 * (1 + q) * self.own / free**3 + looks / free
        return np.where((q > 0) & (q < 1), np.maximum(found, 0), 0)

    def shares(self, times: Floats) -> Floats:
        """Times of runs (rows × replicas) as shares of those that are long enough.

        After these the standard error of activations is below 1/4, by what arrives if no spike
        comes back, for all runs together; and the bias of each run. An activation below 1/4 is
        near at once.
        """
        late, capacity = self.late, self.capacity
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            error = np.where(self.q < 1, self.q / capacity, 0) / FAR_OFF**2
            mine = late.waiting / capacity  # of which a part is enough to be excited
            fixed, growing = np.abs(late.missing - mine)
            root = growing + np.sqrt(growing**2 + 4 * FAR_OFF * fixed)  # of 4 F² T
            walk = 4 / np.pi / FAR_OFF**2 / capacity
            own = np.where(mine.any(axis=0), np.fmin(self.mean / capacity / FAR_OFF, walk), 0)
            bias = root**2 / (2 * FAR_OFF) ** 2 + own
            all_, each = times.sum(axis=1, keepdims=True), times.mean(axis=1, keepdims=True)
            found = np.fmin(all_ / error, (each + self.passed) / bias)
        return np.where((self.q > FAR_OFF) & ~np.isnan(found), found, np.inf)

    def bias(self, estimator: Estimator, time: Floats, walking: bool = True) -> Floats:
        """By how much an estimate is too low on average, of runs of this time.

        ``walking``: also for what grows with time.
        """
        q = self.q
        pending, missing = self.ending
        lacks = np.stack([*self.late.missing, missing])
        with np.errstate(divide="ignore", invalid="ignore"):
            if estimator == "arrivals":
                lacks -= np.stack([*self.late.waiting, pending]) / self.capacity
            elif estimator != "busy":
                lacks /= (1 - q) ** 2
            fixed, growing, ending = lacks
            if self.passed.any():
                memory = np.where((q > 0) & (q < 1), 4 * self.own / (1 - q) ** 2, 0)
                slowest = memory.max(axis=1, keepdims=True)
                fixed = fixed * np.where(slowest > 0, np.exp(-self.passed / slowest), 0)
            time = time[:, None]
            found = (fixed + ending) / time + walking * growing / np.sqrt(time)
        return np.where((q > 0) & (q < 1), np.nan_to_num(found, nan=0.0), 0)

    def biased(self, estimator: Estimator, times: Floats) -> NDArray[np.bool_]:
        """Where the bias is more than half of what an interval at 95 % allows; rows × replicas."""
        exact = self.mean if estimator in ("potential", "events") else self.q
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = self.dispersion(estimator) / times.sum(axis=1, keepdims=True)
            # the upper end of Garwood's interval, nearly
            allowed = scale * (NORMAL**2 / 2 + NORMAL * np.sqrt(exact / scale + 0.75))
            bias = self.bias(estimator, times.mean(axis=1), walking=False)
            return np.asarray(np.abs(bias) > np.nan_to_num(allowed, nan=0.0) / 2)


class Late(NamedTuple):
    """What runs lack at their end because they begin empty.

    Attributes
    ----------
    capacity : ndarray of shape (n_rows, n_neurons)
        Spikes that each neuron can handle per unit time, D.
    waiting : ndarray of shape (2, n_rows, n_neurons)
        Spikes that wait, w: what they tend to, and what to multiply by the root of time.
    missing : ndarray of the same shape
        Time for which a neuron is not excited because of that, b, likewise.
    """

    capacity: Floats
    waiting: Floats
    missing: Floats

    @classmethod
    def of(
        cls,
        network: RandomNeuralNetwork,
        arrivals: Floats,
        inhibition: Floats | None,
        q: Floats,
        time: Floats,
        empty: bool,
    ) -> "Late":
        """That of runs of some time."""
        minus = np.zeros(q.shape) if inhibition is None else inhibition
        comes, capacity = drive(network.stages, network.rates, arrivals, minus, q)
        waiting, missing = np.zeros((2, 2, *q.shape))
        if not empty:
            return cls(capacity, waiting, missing)
        full = q >= 1
        with np.errstate(divide="ignore", invalid="ignore"):
            idle = np.where(full, 1 / np.maximum(comes - capacity, 0), q / (1 - q) / capacity)
            walking = np.sqrt(4 / np.pi / capacity)
            slow = idle > walking * np.sqrt(time)[:, None]
            both = np.where(slow, 0, idle), np.where(slow, walking, 0)
            for i, each in enumerate(both):
                each = np.where(capacity > 0, each, 0)
                if each.any():
                    waiting[i] = np.where(full, 0, each * capacity)
                    missing[i] = response(
                        network.stages, network.rates, q, capacity, waiting[i],
                        np.where(full, each, 0),
                    )  # fmt: skip
        return cls(capacity, waiting, missing)

    def firings(self, rates: Floats, time: Floats) -> Floats:
        """By how many firings runs of some time have less."""
        fixed, growing = self.missing
        return np.asarray(np.maximum((fixed + growing * np.sqrt(time)[:, None]) @ rates, 0))


def count_interval(
    value: Floats, time: Floats, dispersion: Floats, level: float
) -> tuple[Floats, Floats]:
    """Rates at which so much is no surprise, if events count for ``dispersion`` each.

    Garwood's interval for a Poisson process, whose dispersion is 1, in these units.
    """
    tail = (1 - level) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = dispersion / time[:, None]
        count = value / scale
        low = np.where(count > 0, special.gammaincinv(np.maximum(count, 1e-300), tail), 0) * scale
        high = special.gammaincinv(count + 1, 1 - tail) * scale
    return np.where(scale > 0, low, value), np.where(scale > 0, high, value)
