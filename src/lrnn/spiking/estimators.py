r"""Activations from a simulation's sums, and how sure one can be of them.

Every estimator is a ratio of sums :math:`N/D` over independent samples, which are replicas or,
for a single run, consecutive parts of it (batch means):

===========  ====================================  =============================================
estimator    N / D                                 is an estimate of
===========  ====================================  =============================================
potential    potentials observed / observations    the mean potential :math:`q/(1-q)`
busy         looks that found it excited / looks   q
arrivals     spikes that arrived / those that it   q: flow in is flow out, :math:`\Lambda^+ =
             could have passed on or lost          q\,(r + \Lambda^-)`
events       potentials seen right after every so  :math:`q/(1-q)`, and the share of the events
             many events / how often               that are firings of this neuron
===========  ====================================  =============================================

The last is the paper's to the letter; its bias is derived in docs/spiking.md.

With :math:`\hat R = \sum_b N_b / \sum_b D_b` and residuals :math:`e_b = N_b - \hat R D_b`, the
variance of :math:`\hat R` is about :math:`\frac{B}{B-1} \sum_b e_b^2 / (\sum_b D_b)^2`, and an
interval follows from Student's t with B − 1 degrees of freedom. For samples of different lengths
:math:`B = (\sum_b D_b)^2 / \sum_b D_b^2`, since a share of 1/B of the variance is then missing from
the residuals' squares.
"""

from typing import Literal

import numpy as np
from scipy import special

from lrnn.arrays import Floats

Estimator = Literal["potential", "busy", "arrivals", "events"]
ESTIMATORS: tuple[Estimator, ...] = ("potential", "busy", "arrivals", "events")

BATCHES = 32  # equal parts of a lone run, for batch means


def check_estimator(estimator: str) -> None:
    """Complain of a name that is none of them."""
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATORS)}; got {estimator!r}")


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Sum over samples (the first axis) of N by that of D; NaN where there is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(numerator.sum(axis=0) / denominator.sum(axis=0))


def spread(numerator: Floats, denominator: Floats, level: float) -> Floats:
    """Half the width of the interval around `ratio`; NaN with fewer than two samples."""
    total = denominator.sum(axis=0)
    residual = numerator - ratio(numerator, denominator) * denominator
    samples = samples_of(denominator)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = samples / (samples - 1) * (residual**2).sum(axis=0) / total**2
        quantile = special.stdtrit(samples - 1, (1 + level) / 2)
        return np.asarray(quantile * np.sqrt(variance))


def samples_of(denominator: Floats) -> Floats:
    """How many samples of the same length are worth as much; NaN if they are not two at least."""
    with np.errstate(invalid="ignore", divide="ignore"):
        samples = denominator.sum(axis=0) ** 2 / (denominator**2).sum(axis=0)
    return np.where(samples > 1 + 1e-9, samples, np.nan)


def batch_ends(ticks: Floats) -> list[int]:
    """Which snapshots cut a run into parts, none much shorter than 1/32 of the whole."""
    shortest = 0.9 * ticks[-1] / BATCHES
    ends: list[int] = []
    begun = 0.0
    for i, reached in enumerate(ticks):
        if reached - begun >= shortest or i == len(ticks) - 1:
            ends.append(i)
            begun = reached
    return ends


def potential_at_events(q: Floats, rates: Floats, outside: Floats) -> Floats:
    r"""The mean potential that is seen right after events, under the product form.

    A state is met by events in proportion to the rate :math:`R = \Lambda + \sum_j r_j 1[k_j>0]` at
    which they happen in it. Potentials are independent, and so :math:`E[k_i R]/E[R] = q_i/(1-q_i) +
    q_i r_i/E[R]`: too high by the share of all events that are firings of this neuron.

    Parameters
    ----------
    q : ndarray of shape (..., n_neurons)
        Activations in steady state.
    rates : ndarray of shape (n_neurons,)
        Firing rates.
    outside : ndarray of shape (...)
        All spikes from outside per unit time, excitatory and inhibitory.
    """
    firings = q * rates
    with np.errstate(divide="ignore"):
        return np.asarray(q / (1 - q) + firings / (outside + firings.sum(axis=-1))[..., None])


def probability(value: Floats, estimator: Estimator) -> Floats:
    """The activation that an estimator's ratio stands for, from 0 to 1."""
    value = np.maximum(value, 0)
    if estimator in ("potential", "events"):
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(value), 1.0, value / (1 + value))
    return np.minimum(value, 1)
