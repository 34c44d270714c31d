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
from typing import Any, Self

import numpy as np
from scipy import special

from lrnn.arrays import Floats
from lrnn.network import RandomNeuralNetwork
from lrnn.network.gradient import drive
from lrnn.network.response import own_response, response
from lrnn.spiking.estimators import ESTIMATORS, Estimator

FAR_OFF = 0.25  # an error after which an activation tells nothing


@dataclass(frozen=True)
class Uncertainty:
    """What is needed to tell how far the estimates of some rows may be off.

    Attributes
    ----------
    q : ndarray of shape (n_rows, n_neurons)
        Activations in steady state.
    own : ndarray of the same shape
        Response of each to one more spike of its own per unit time.
    capacity : ndarray of the same shape
        Spikes that a neuron can handle per unit time, D.
    waiting : ndarray of shape (3, n_rows, n_neurons)
        By how many spikes there are more in it at the end than at the beginning, w: because the run
        began empty, because it ends with an event, and as a random walk, for T = 1.
    missing : ndarray of the same shape
        Time for which a neuron is not excited because of that, b.
    pace : ndarray of shape (n_rows, 1)
        Events per unit time.
    passed : ndarray of shape (n_rows, 1)
        Time from the beginning of the run that is left out.
    tick : ndarray of shape (n_rows, 1)
        Mean time between ticks; 0 where time is not told by ticks.
    between : ndarray of shape (4, n_rows, 1)
        Time between looks at the potentials, for each estimator.
    """

    q: Floats
    own: Floats
    capacity: Floats
    waiting: Floats
    missing: Floats
    pace: Floats
    passed: Floats
    tick: Floats
    between: Floats

    @classmethod
    def of(
        cls,
        network: RandomNeuralNetwork,
        arrivals: Floats,
        inhibition: Floats | None,
        q: Floats,
        empty: bool,
        by_events: bool,
        length: float,
        pace: Floats,
        passed: Floats,
        tick: Floats,
        between: Floats,
    ) -> Self:
        """That of rows of arrivals with these activations; how runs begin, end, and how long."""
        stages, rates = network.stages, network.rates
        minus = np.zeros(q.shape) if inhibition is None else inhibition
        _, capacity = drive(stages, rates, arrivals, minus, q)
        waiting, missing = np.zeros((2, 3, *q.shape))
        if empty:
            time = length / pace if by_events else np.full(len(q), length)
            waiting[::2], missing[::2] = late_by(network, arrivals, inhibition, q, time)
        if by_events:
            waiting[1] = np.where(q < 1, q * rates / pace[:, None], 0)
            missing[1] = response(stages, rates, q, capacity, waiting[1], np.zeros(q.shape))
        own = own_response(stages, rates, q, capacity)
        columns = (each[..., None] for each in (pace, passed, tick, between))
        return cls(q, own, capacity, waiting, missing, *columns)

    def rows(self, some: Any) -> Self:
        """That of some rows."""
        found = {name: getattr(self, name)[..., some, :] for name in self.__annotations__}
        return replace(self, **found)

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

    @property
    def enough(self) -> tuple[Floats, Floats]:
        """The times after which the standard error, by arrivals, and the bias are below 1/4.

        The one of all runs together, the other of each. An activation below 1/4 is near at once.
        """
        q, full = self.q, self.q >= 1
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            error = np.where(full, 0, q * (2 * self.own - 1 / self.capacity)) / FAR_OFF**2
            mine = self.waiting / self.capacity  # of which a part is enough to be excited
            fixed, growing = (np.abs(self.missing - mine)[i] for i in (0, 2))
            root = growing + np.sqrt(growing**2 + 4 * FAR_OFF * fixed)  # of 4 F² T
            walk = 4 / np.pi / FAR_OFF**2 / self.capacity
            own = np.fmin(self.mean / self.capacity / FAR_OFF, walk)
            own = np.where(mine[0] + mine[2] > 0, own, 0)
            bias = root**2 / (2 * FAR_OFF) ** 2 + own
        matters = q > FAR_OFF
        return np.where(matters, error, 0), np.where(matters, bias, 0)

    def bias(self, estimator: Estimator, time: Floats, walking: bool = True) -> Floats:
        """By how much an estimate is too low on average, of runs of this time.

        ``walking``: also for what grows with time.
        """
        q, found = self.q, self.missing
        with np.errstate(divide="ignore", invalid="ignore"):
            memory = np.where((q > 0) & (q < 1), 4 * self.own / (1 - q) ** 2, 0)
            slowest = memory.max(axis=1, keepdims=True)
            left = np.where(slowest > 0, np.exp(-self.passed / slowest), 0)
            if estimator == "arrivals":
                found = found - self.waiting / self.capacity
            elif estimator != "busy":
                found = found / (1 - q) ** 2
            time = time[:, None]
            each = (found[0] * left + found[1]) / time + walking * found[2] / np.sqrt(time)
        return np.where((q > 0) & (q < 1), np.nan_to_num(each, nan=0.0), 0)


def late_by(
    network: RandomNeuralNetwork,
    arrivals: Floats,
    inhibition: Floats | None,
    q: Floats,
    time: Floats,
) -> tuple[Floats, Floats]:
    """Spikes that wait at the end, and time that is missing, because runs of some time begin empty.

    Both are pairs of rows × neurons: what they tend to, and what to multiply by the root of time.
    """
    minus = np.zeros(q.shape) if inhibition is None else inhibition
    comes, capacity = drive(network.stages, network.rates, arrivals, minus, q)
    full = q >= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        idle = np.where(full, 1 / np.maximum(comes - capacity, 0), q / (1 - q) / capacity)
        idle, walking = (
            np.where(capacity > 0, each, 0) for each in (idle, np.sqrt(4 / np.pi / capacity))
        )
    slow = idle > walking * np.sqrt(time)[:, None]
    both = np.where(slow, 0, idle), np.where(slow, walking, 0)
    waiting = np.stack([np.where(full, 0, each * capacity) for each in both])
    missing = [
        response(network.stages, network.rates, q, capacity, w, np.where(full, each, 0))
        for w, each in zip(waiting, both, strict=True)
    ]
    return waiting, np.stack(missing)


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
