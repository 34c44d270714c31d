r"""When enough is known: rules by which a simulation ends before its limit.

A rule is asked at K moments that are set beforehand (*reviews*), and asking often makes errors
likelier. So each review may err with probability :math:`(1-\text{level})/K` only (Bonferroni): that
at any of them an interval misses what it is to hold then has a probability of at most 1 − level.
A spread between samples can be small by accident while only few spikes have come, and so nothing
is believed to be more certain than theory has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from lrnn.arrays import Floats
from lrnn.functional.decisions import decides
from lrnn.rows.validation import MOST
from lrnn.spiking.estimators import Estimator, probability, ratio, samples_of

UNBIASED: tuple[Estimator, ...] = ("potential", "busy", "arrivals")
EQUAL = 1e-9  # activations that differ by less are the same, and no simulation will tell them apart


@dataclass(frozen=True)
class Precision:
    """End where the widest confidence interval of the chosen neurons is narrow enough.

    Neurons that saturate or are never excited do not count: their activations are known to be 1
    and 0. The intervals are those of :meth:`lrnn.spiking.Simulation.confidence_interval`, each of
    which holds for its neuron alone; they take into account that there are several reviews.

    Parameters
    ----------
    width : float
        The widest that an interval may be, from its lower to its upper end.
    neurons : list of int, optional
        Whose; by default those of all.
    level : float, default=0.95
        Confidence of an interval.
    estimator : {"arrivals", "busy", "potential"}, default="arrivals"
        Of the activations.
    """

    width: float
    neurons: ArrayLike | None = None
    level: float = 0.95
    estimator: Estimator = "arrivals"


@dataclass(frozen=True)
class Decision:
    """End where the neuron with the highest activation is known.

    Its lead over each of the others has to be larger than chance explains, at a level that takes
    into account how many others there are and how many reviews. So with probability ``level`` the
    one that leads in the end is the one with the highest activation.

    Parameters
    ----------
    neurons : list of int, or list of lists of int
        The candidates; each a neuron, or a group of them, whose activations are added up.
    level : float, default=0.95
        Confidence of the decision.
    estimator : {"arrivals", "busy", "potential"}, default="arrivals"
        Of the activations.
    """

    neurons: Sequence[Any]
    level: float = 0.95
    estimator: Estimator = "arrivals"

    def groups(self) -> list[NDArray[np.intp]]:
        """The candidates, each as the neurons that it is made of.

        Returns
        -------
        groups : list of ndarray
            One for each candidate.
        """
        return [np.atleast_1d(np.asarray(each)) for each in self.neurons]

    def tied(self, q: Floats) -> NDArray[np.bool_]:
        """Rows of activations in which two candidates lead together.

        Parameters
        ----------
        q : ndarray of shape (n_rows, n_neurons)
            Activations.

        Returns
        -------
        tied : ndarray of bool
            One for each row.
        """
        sums = np.sort(added_up(q, self.groups()), axis=-1)
        return np.asarray(sums[..., -1] - sums[..., -2] <= EQUAL * np.maximum(sums[..., -1], EQUAL))


@dataclass(frozen=True)
class SpikeCount:
    """End where the spikes that some neurons have fired, counted, decide between them.

    In the steady state of a feed-forward network their spikes are independent draws, and one that
    is decided for has the highest firing rate with probability ``confidence``, at least, however
    often that is asked (see `lrnn.functional.decisions`). A network that begins at rest comes
    near that law only with time.

    Parameters
    ----------
    neurons : list of int
        The candidates.
    confidence : float, default=0.95
        Confidence of the decision.
    lead : int, optional
        End where one is so many spikes ahead of each other, instead, whatever the confidence.
    """

    neurons: ArrayLike
    confidence: float = 0.95
    lead: int | None = None

    def settled(self, fired: Any) -> Any:
        """In which rows so many spikes of the candidates decide.

        Parameters
        ----------
        fired : array-like of shape (..., n_candidates)
            Spikes of each.

        Returns
        -------
        settled : ndarray of bool
            One for each row.
        """
        ordered = np.sort(fired, axis=-1)
        second = ordered[..., -2] if ordered.shape[-1] > 1 else 0
        return decides(
            ordered[..., -1], second, ordered.shape[-1], confidence=self.confidence, lead=self.lead
        )


Until = Precision | Decision | SpikeCount


@dataclass(frozen=True)
class Lead:
    """Who leads in each row, and how surely.

    Attributes
    ----------
    leader, rival : ndarray of shape (n_rows,)
        The candidate in front, and the one whose lead over the leader is hardest to rule out.
    ahead, uncertain : ndarray of shape (n_rows,)
        By how much the activation of the one is above that of the other, and how much of that may
        be chance.
    """

    leader: NDArray[np.intp]
    rival: NDArray[np.intp]
    ahead: Floats
    uncertain: Floats


def check_until(until: Any, n_neurons: int) -> Until:
    """The rule that was given; a plain number is a width."""
    if isinstance(until, Real) and not isinstance(until, bool):
        until = Precision(float(until))
    if isinstance(until, SpikeCount):
        return _checked_count(until, n_neurons)
    if not isinstance(until, Precision | Decision):
        raise ValueError(
            "until must be a width, or a Precision, Decision or SpikeCount of lrnn.spiking, "
            f"got {until!r}"
        )
    if until.estimator not in UNBIASED:
        raise ValueError(
            f"the estimator of until must be one of {', '.join(UNBIASED)}; got {until.estimator!r}"
        )
    if not (isinstance(until.level, Real) and 0 < until.level < 1):
        raise ValueError(f"the level of until must be between 0 and 1, got {until.level!r}")
    if isinstance(until, Precision):
        if not (isinstance(until.width, Real) and isfinite(until.width) and 0 < until.width < 1):
            raise ValueError(f"the width of until must be between 0 and 1, got {until.width!r}")
        if until.neurons is not None:
            check_neurons(until.neurons, n_neurons, "until")
    else:
        if not isinstance(until.neurons, Sequence | np.ndarray) or len(until.neurons) < 2:
            raise ValueError(
                "a Decision is between two neurons, or groups of them, or more; got "
                f"neurons={until.neurons!r}"
            )
        groups = [np.sort(check_neurons(group, n_neurons, "until")) for group in until.groups()]
        for number, group in enumerate(groups):
            for other in range(number):
                if np.array_equal(group, groups[other]):
                    raise ValueError(
                        f"candidates {other} and {number} of a Decision are the same, "
                        f"{until.neurons[number]!r}: no simulation can tell which of them leads"
                    )
    return until


def _checked_count(until: SpikeCount, n_neurons: int) -> SpikeCount:
    check_neurons(until.neurons, n_neurons, "until")
    if not (isinstance(until.confidence, Real) and 0 < until.confidence < 1):
        raise ValueError(f"confidence must be between 0 and 1, got {until.confidence!r}")
    if until.lead is not None and (
        not isinstance(until.lead, Integral)
        or isinstance(until.lead, bool)
        or not 0 < until.lead <= MOST
    ):
        raise ValueError(f"lead must be a whole number of spikes, 1 or more, got {until.lead!r}")
    return until


def check_neurons(neurons: ArrayLike, n_neurons: int, name: str) -> NDArray[np.intp]:
    """Neurons' numbers as a vector, or an error that tells which is none."""
    chosen = np.asarray(neurons)
    if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu":
        got = chosen.tolist() if chosen.ndim else neurons
        raise ValueError(f"{name} must be a list of neurons' numbers, got {got!r}")
    wrong = chosen[(chosen < 0) | (chosen >= n_neurons)]
    if len(wrong):
        raise ValueError(
            f"{name} names neuron {wrong[0]}, but they are numbered 0 to {n_neurons - 1}"
        )
    return chosen.astype(np.intp)


def lead_of(
    decision: Decision,
    numerator: Floats,
    denominator: Floats,
    arrived: Floats,
    could: Floats,
    reviews: int,
) -> Lead:
    """Who leads, from samples × rows × neurons, and arrivals of all samples together.

    The lead of one candidate over another is estimated in every sample, to first order, so that
    what they have in common does not count.
    """
    groups = decision.groups()
    value, total = ratio(numerator, denominator), denominator.sum(axis=0)
    q = probability(value, decision.estimator)
    slope = (1 - q) ** 2 if decision.estimator == "potential" else np.ones_like(q)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = (numerator - value * denominator) / total * slope
        scatter = added_up((arrived + 1) / could**2, groups)
        samples = samples_of(denominator).min(axis=-1)[:, None]
        correction = samples / (samples - 1)
    activation, deviation = added_up(q, groups), added_up(residual, groups)
    leader = np.argmax(np.nan_to_num(activation), axis=-1)
    mine = leader[:, None]
    ahead = np.take_along_axis(activation, mine, axis=-1) - activation
    apart = np.take_along_axis(deviation, mine[None], axis=-1) - deviation
    variance = np.maximum(
        correction * (apart**2).sum(axis=0), scatter + np.take_along_axis(scatter, mine, axis=-1)
    )
    error = (1 - decision.level) / (reviews * (len(groups) - 1))
    uncertain = special.stdtrit(samples - 1, 1 - error) * np.sqrt(variance)
    sure = np.nan_to_num(ahead - uncertain, nan=-np.inf)
    np.put_along_axis(sure, mine, np.inf, axis=-1)
    rival = np.argmin(sure, axis=-1)
    at = (np.arange(len(rival)), rival)
    return Lead(leader, rival, ahead[at], uncertain[at])


def added_up(values: Floats, groups: list[NDArray[np.intp]]) -> Floats:
    """Sums over groups of the last axis."""
    return np.stack([values[..., group].sum(axis=-1) for group in groups], axis=-1)
