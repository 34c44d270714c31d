r"""Decisions from counted spikes: who leads, how surely, and after how many spikes.

In steady state the classes of successive output spikes are independent draws from the shares
:math:`p_c` (docs/recognition.md has the proof), so that what is known of such draws is known of the
network.

**How surely.** Of the spikes of two classes only, each is of the first with probability
:math:`\theta = p_c/(p_c+p_d)`. After *a* spikes of the one and *b* of the other, the evidence that
:math:`\theta > 1/2` is their likelihood, averaged over all such :math:`\theta`, beside that of
:math:`\theta = 1/2`:

.. math::
    M(a, b) = 2^{a+b} \cdot 2 \int_{1/2}^1 \theta^a (1-\theta)^b \, d\theta.

Where :math:`p_c \le p_d` this is a nonnegative supermartingale that begins at 1, and it ever comes
to :math:`1/\alpha` with probability :math:`\alpha` at most (Ville's inequality), however often one
looks. It grows with *a* and falls with *b*: the leader's evidence against the second is its least.
"""

from math import ceil, log
from typing import Any

import numpy as np
from scipy import special

from lrnn.arrays import Floats

LOG_2 = float(np.log(2))
SPIKES_AT_ONCE = 1 << 12  # whose counts are held, one after the other
MOST_SPIKES = 1e18  # beyond which a number of spikes is as good as infinite
TAIL = 8.0  # standard deviations of a Poisson law, beyond which it is left out


def log_evidence(first: Any, second: Any) -> Floats:
    """Logarithm of the evidence that who fired ``first`` spikes is before who fired ``second``.

    Examples
    --------
    >>> float(np.exp(log_evidence(0, 0)).round(6))
    1.0
    >>> float(np.exp(log_evidence(10, 0)).round(2))
    186.09
    """
    a, b = (np.asarray(count, dtype=np.float64) for count in (first, second))
    with np.errstate(divide="ignore"):
        above_half = np.log(special.betainc(b + 1, a + 1, 0.5))
    return np.asarray((a + b + 1) * LOG_2 + special.betaln(a + 1, b + 1) + above_half)


def enough_evidence(confidence: float, classes: int) -> float:
    """The logarithm of the evidence with which one of so many classes is decided for.

    A wrong class must have passed the best with it, which any of ``classes - 1`` does with
    probability ``(1 - confidence) / (classes - 1)`` at most.
    """
    return float(np.log(max(1, classes - 1)) - np.log1p(-confidence))


def decides(
    first: Any, second: Any, classes: int, *, confidence: float = 0.95, lead: int | None = None
) -> Any:
    """Whether so many spikes of the leader, and of the second, decide.

    With a ``lead`` that is what the one must be ahead of the other by; otherwise the evidence must
    be enough for ``confidence``.

    Examples
    --------
    >>> decides([10, 11, 11], [0, 0, 3], 10).tolist()
    [True, True, False]
    >>> decides([10, 11, 11], [9, 0, 3], 10, lead=8).tolist()
    [False, True, True]
    """
    first, second = np.asarray(first), np.asarray(second)
    if lead is not None:
        return first - second >= lead
    if classes == 1:
        return first > 0
    enough = enough_evidence(confidence, classes)
    found = np.asarray(_most_evidence(first, second) >= enough)
    found[found] = log_evidence(first[found], second[found]) >= enough
    return found


def _most_evidence(first: Any, second: Any) -> Any:
    """What the evidence cannot be above, and sooner known: that of the most likely share."""
    both = np.maximum(first + second, 1)
    likely = special.xlogy(first, first / both) + special.xlogy(second, second / both)
    return both * LOG_2 + likely


def lead_for(confidence: float, ratio: float, classes: int) -> int:
    r"""By how many spikes a class must lead, if the best fires ``ratio`` times as often as others.

    Another one ever leads the best by *k* with probability :math:`(p_c/p_1)^k`, so that one of
    ``classes - 1`` does with ``(classes - 1) / ratio**k`` at most.

    Examples
    --------
    >>> lead_for(0.95, 2.0, 10), lead_for(0.95, 1.5, 10), lead_for(0.95, 2.0, 2)
    (8, 13, 5)
    """
    return max(1, ceil(enough_evidence(confidence, classes) / log(ratio) - 1e-9))


def ruin(shares: Floats, lead: int) -> tuple[Floats, Floats]:
    r"""The first two classes, until one leads the other by ``lead`` spikes: gambler's ruin.

    Returns the probability that it is the lesser one, :math:`1/(1+(p_1/p_2)^k)`, and the expected
    number of spikes of all classes, :math:`k (1 - 2\,\text{error}) / (p_1 - p_2)` (:math:`k^2/2p`
    for equal shares). With two classes that is exact. Further classes hardly ever win, but the
    leader must pass them, too: the number is then an estimate from below.

    Examples
    --------
    >>> error, spikes = ruin(np.array([0.9, 0.1]), 3)
    >>> round(float(error), 5), round(float(spikes), 3)
    (0.00137, 3.74)
    """
    best, next_ = _two_largest(shares)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = special.expit(-lead * np.log(best / next_))
        apart = best - next_
        spikes = np.where(apart > 0, lead * (1 - 2 * error) / apart, lead**2 / (best + next_))
    return np.where(best > 0, error, np.nan), np.where(best > 0, spikes, np.inf)


def expected_spikes(shares: Floats, *, confidence: float = 0.95, lead: int | None = None) -> Floats:
    """About how many output spikes a decision takes, for each row of shares.

    With a ``lead`` that of `ruin`. Otherwise the number at which a decision is made if all counts
    are what they are on average: an estimate, as counts differ from their average, and infinite
    where two classes lead together.

    Examples
    --------
    >>> expected_spikes(np.array([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0.5, 0.5, 0.0]])).round(1)
    array([  14.7, 1120. ,    inf])
    """
    if lead is not None:
        return ruin(shares, lead)[1]
    best, next_ = _two_largest(shares)
    enough = enough_evidence(confidence, shares.shape[-1])
    if shares.shape[-1] == 1:
        return np.ones_like(best)
    low, high = np.zeros_like(best), np.full_like(best, np.log(MOST_SPIKES))  # logarithms
    for _ in range(60):
        middle = (low + high) / 2
        spikes = np.exp(middle)
        sure = _evidence_on_average(spikes, best, next_) >= enough
        low, high = np.where(sure, low, middle), np.where(sure, middle, high)
    found: Floats = np.exp(high)
    return np.where(found < MOST_SPIKES / 2, found, np.inf)


def _evidence_on_average(spikes: Floats, best: Floats, next_: Floats) -> Floats:
    """The same as `log_evidence`, by Laplace's method where spikes are many."""
    few = np.minimum(spikes, 1e6)
    theta = np.clip(best / np.where(best > 0, best + next_, 1), 0.5, 1 - 1e-15)
    gain = LOG_2 - special.entr(theta) - special.entr(1 - theta)
    beyond = (spikes - few) * (best + next_) * gain - 0.5 * np.log(spikes / few)
    return np.asarray(log_evidence(few * best, few * next_) + beyond)


def two_class_law(
    share: float, *, confidence: float = 0.95, lead: int | None = None, most: int = 1_000
) -> tuple[float, float, float]:
    """A decision between two classes, exactly, spike by spike: all ways that counts can go.

    Returns the probability that it is for the second class, the expected number of spikes (of at
    most ``most``), and the probability that it is still open then. ``share`` is that of the first.

    Examples
    --------
    >>> error, spikes, open_ = two_class_law(0.9, lead=3)
    >>> round(error, 5), round(spikes, 3), open_ < 1e-12
    (0.00137, 3.74, True)
    """
    open_ = np.ones(1)  # by spikes of the first class
    error = spikes = 0.0
    for count in range(1, most + 1):
        spikes += float(open_.sum())
        grown = np.zeros(count + 1)
        grown[1:] += share * open_
        grown[:-1] += (1 - share) * open_
        first = np.arange(count + 1)
        high, low = np.maximum(first, count - first), np.minimum(first, count - first)
        ended = decides(high, low, 2, confidence=confidence, lead=lead) & (high > low)
        error += float(grown[ended & (first < count - first)].sum())
        open_ = np.where(ended, 0.0, grown)
    return error, spikes, float(open_.sum())


def leading(means: Floats) -> Floats:
    """The probability of each class to lead, where counts follow Poisson laws of these means.

    In steady state counts of output spikes do, class by class and independent of each other, with
    means of rate times time. Of classes that lead together the first does, as for `numpy.argmax`;
    what is missing to 1 is the probability that there is no spike at all.

    Examples
    --------
    >>> leading(np.array([2.0, 1.0])).round(3)
    array([0.768, 0.183])
    >>> leading(np.array([200.0, 100.0])).round(3)
    array([1., 0.])
    """
    means = np.asarray(means, dtype=np.float64)
    most = means.max()
    reach = TAIL * (1 + np.sqrt(most))
    counts = np.arange(max(1, int(most - reach)), int(most + reach) + 2)[:, None]
    at_most, below = special.pdtr(counts, means), special.pdtr(counts - 1, means)
    exactly = np.exp(special.xlogy(counts, means) - means - special.gammaln(counts + 1))
    found = np.empty_like(means)
    for c in range(len(means)):
        others = below[:, :c].prod(axis=1) * at_most[:, c + 1 :].prod(axis=1)
        found[c] = (exactly[:, c] * others).sum()
    return found


def first_passage(
    classes: Any, count: int, *, confidence: float = 0.95, lead: int | None = None
) -> tuple[int, Any]:
    """After how many of these spikes a decision is made, and the counts of all classes then.

    ``classes`` are the numbers of the classes whose spikes they are, one after the other, of
    ``count`` classes. The number is 0 if none is made; counts are then those of all spikes.

    Examples
    --------
    >>> first_passage([1, 0, 1, 1, 1, 0], 2, lead=3)
    (5, array([1, 4]))
    >>> first_passage([1, 0], 2, lead=3)
    (0, array([1, 1]))
    """
    classes = np.asarray(classes, dtype=np.intp)
    so_far = np.zeros(count, dtype=np.int64)
    for first in range(0, len(classes), SPIKES_AT_ONCE):
        part = classes[first : first + SPIKES_AT_ONCE]
        counts = np.zeros((len(part), count), dtype=np.int64)
        counts[np.arange(len(part)), part] = 1
        counts = so_far + counts.cumsum(axis=0)
        best, next_ = _two_largest(counts)
        found = np.flatnonzero(decides(best, next_, count, confidence=confidence, lead=lead))
        if len(found):
            return first + int(found[0]) + 1, counts[found[0]]
        so_far = counts[-1]
    return 0, so_far


def _two_largest(values: Any) -> tuple[Any, Any]:
    """Of the last axis; the second of one is 0."""
    if values.shape[-1] == 1:
        return values[..., 0], np.zeros_like(values[..., 0])
    ordered = np.partition(values, -2, axis=-1)
    return ordered[..., -1], ordered[..., -2]
