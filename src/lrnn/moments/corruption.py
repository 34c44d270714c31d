"""How inputs are corrupted in training, as a value: by what, how much, and by which numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, beyond_floats, is_array
from lrnn.functional.corruption import clipped_noise, highest_drives, key_of, masked, noisy

Kind: TypeAlias = Literal["mask", "noise"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LEAST = 1e-6  # level, besides 0; and share of cells that a mask leaves
STRIDE = 1 << 32  # numbers of cells between minibatches
ROWS, BATCHES, HIDDEN = 1, 2, 100  # what random numbers are for; the last and on, by layer


@dataclass(frozen=True)
class Corruption:
    """What a network is to undo.

    Attributes
    ----------
    kind : {"mask", "noise"}
        Whether cells become 0, or get Gaussian noise and are clipped to [0, 1].
    level : float
        The probability that a cell is masked, or the standard deviation of the noise.
    seed : int
        What samples depend on.
    """

    kind: Kind
    level: float
    seed: int = 0

    @classmethod
    def of(cls, wanted: Any, random_state: Any = None) -> "Corruption | None":
        """What a parameter of the estimator says; a level of 0 is none.

        Samples depend on ``random_state`` if it is a number, and are always the same otherwise.

        Examples
        --------
        >>> Corruption.of(("mask", 0.5))
        Corruption(kind='mask', level=0.5, seed=0)
        """
        if wanted is None:
            return None
        if not isinstance(wanted, Sequence) or isinstance(wanted, str) or len(wanted) != 2:
            raise ValueError(
                f"corruption={wanted!r} is not a pair of a kind and a level, such as "
                "('mask', 0.5) or ('noise', 0.1)"
            )
        kind, level = wanted
        if kind not in KINDS:
            raise ValueError(f"corruption={wanted!r}: the kind must be 'mask' or 'noise'")
        if isinstance(level, bool) or not isinstance(level, Real) or beyond_floats(level):
            raise ValueError(f"corruption={wanted!r}: the level must be a number, as floats are")
        check_level(kind, float(level), f"corruption={wanted!r}")
        return cls(kind, float(level), _seed(random_state)) if level else None

    def of_rows(self, block: Array, first: int) -> Array:
        """A sample of a block of rows, the first of which has this number: always the same."""
        start = first * int(block.shape[1])
        return self._sampled(block, key_of(self.seed, ROWS), start)

    def of_batch(self, block: Array, step: Any) -> Array:
        """A sample of a minibatch for this step, another one for each; it may be an array."""
        return self._sampled(block, key_of(self.seed, BATCHES), _first_cell(step))

    def _sampled(self, block: Array, key: int, start: Any) -> Array:
        return (masked if self.kind == "mask" else noisy)(block, self.level, key, start)

    def highest(self, block: Array, encoder: Array) -> Array:
        """Drives that hardly any corrupted row passes, nor the row itself, for each row."""
        drive = block @ encoder
        if self.kind == "mask":  # which only lowers them
            return drive
        means, variances, *offsets = statistics(block, self.level)
        most = highest_drives(means, variances, encoder, (offsets[0], offsets[1]))
        return array_namespace(drive).maximum(drive, most)


@dataclass(frozen=True)
class Dropout:
    """Hidden neurons that are silent in a step of training, each with the same probability.

    Attributes
    ----------
    share : float
        That probability.
    seed : int
        What samples depend on.
    """

    share: float
    seed: int = 0

    @classmethod
    def of(cls, share: float, random_state: Any = None) -> "Dropout | None":
        """What a parameter of the estimator says; 0 is none."""
        return cls(float(share), _seed(random_state)) if share else None

    def factors(self, layer: int, block: Array, step: Any) -> Array:
        """For activations of a layer in this step: 0 where a neuron is silent for a row.

        The others fire more, such that the mean of all stays as it is.
        """
        loud = array_namespace(block).full_like(block, 1 / (1 - self.share))
        return masked(loud, self.share, key_of(self.seed, HIDDEN + layer), _first_cell(step))


def _seed(random_state: Any) -> int:
    """A number that samples depend on, always the same if ``random_state`` is no number."""
    return int(random_state) if isinstance(random_state, Integral) else 0


def _first_cell(step: Any) -> Any:
    """The number of the first cell of the minibatch of a step, which may be an array."""
    if is_array(step):
        xp = array_namespace(step)
        step = xp.astype(step, xp.int64)
    return step * STRIDE


def check_level(kind: Kind, level: float, given: str) -> None:
    """Complain of a level that leaves nothing, or that is none."""
    if kind == "mask" and level == 1:
        raise ValueError(f"{given} leaves no cell: nothing can be learnt from it. Give less than 1")
    most = 1 - LEAST if kind == "mask" else 1.0
    if level == 0 or LEAST <= level <= most:
        return
    what = "share of the cells" if kind == "mask" else "standard deviation"
    below = "less than 1" if kind == "mask" else "at most 1"
    raise ValueError(f"{given}: the level is a {what}, 0 or from {LEAST:g} on, and {below}")


def statistics(block: Array, deviation: float) -> tuple[Array, Array, float, float]:
    """Means and variances of a noisy block, and what they are where a sparse one has no entry.

    Those of a sparse block are sparse, too: they are less by these two numbers.
    """
    if not sparse.issparse(block):
        return *clipped_noise(block, deviation), 0.0, 0.0
    means, variances = clipped_noise(block.data, deviation)
    at_zero = clipped_noise(np.zeros(1), deviation)
    mean, variance = (float(number[0]) for number in at_zero)
    shape = (block.indices, block.indptr)
    parts = (means - mean, variances - variance)
    found = [sparse.csr_array((part, *shape), shape=block.shape) for part in parts]
    return found[0], found[1], mean, variance
