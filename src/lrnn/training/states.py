"""What an earlier run has left is checked, as model files are, before training goes on from it.

A checkpoint may have been changed by anybody, with a right checksum. So whatever is taken from it
is of the type and shape that this training would have written, its numbers are possible ones, and
those that follow from others do follow from them.
"""

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np

from lrnn.arrays import Array, Backend, Rates, backend_of, host_dtype, is_array, to_numpy
from lrnn.weights import Weights, over_one

State: TypeAlias = dict[str, Any]
"""All that a loop needs to go on: arrays, numbers, text, and lists and dictionaries of them."""

ERRORS = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)
"""What a state that was made for something else may lead to."""


class StateError(ValueError):
    """What an earlier run has left does not fit this training."""


def demand(holds: bool, what: str) -> None:
    """Complain of ``what`` unless it holds."""
    if not holds:
        raise StateError(f"its {what} cannot be right")


def number(value: Any, what: str, least: float = 0.0, most: float = inf) -> float:
    """A finite number that is not a truth value, within limits."""
    fits = type(value) in (int, float) and isfinite(value) and least <= value <= most
    demand(fits, f"{what} {value!r:.40}")
    return float(value)


def whole(value: Any, what: str, least: int, most: int) -> int:
    """A whole number within limits."""
    demand(type(value) is int and least <= value <= most, f"{what} {value!r:.40}")
    return int(value)


def matrix(value: Any, like: Array, what: str, *, signed: bool = False) -> Array:
    """Numbers of the shape, type and place of ``like``: finite, and 0 or more unless signed."""
    shape, dtype = tuple(like.shape), host_dtype(like.dtype)
    demand(
        isinstance(value, np.ndarray) and (value.shape, value.dtype) == (shape, dtype),
        f"{what} (not {dtype} of the shape {shape})",
    )
    possible = np.isfinite(value).all() and (signed or not value.size or value.min() >= 0)
    demand(bool(possible), f"{what} (numbers that are not finite, or below 0)")
    return backend_of(like).send(value)


def matrices(values: Any, like: Sequence[Array], what: str, *, signed: bool = False) -> list[Array]:
    """As many as these, each as `matrix` demands."""
    demand(isinstance(values, list) and len(values) == len(like), f"number of {what}")
    return [matrix(v, one, what, signed=signed) for v, one in zip(values, like, strict=True)]


def series(value: Any, what: str, length: int | None = None, *, falling: bool = False,
           rising: bool = False) -> list[float]:  # fmt: skip
    """A curve: finite numbers, 0 or more."""
    shape = (np.size(value) if length is None else length,)
    matrix(value, np.empty(shape), what)
    steps = np.diff(value)
    demand(not (falling and (steps > 0).any()) and not (rising and (steps < 0).any()), what)
    found: list[float] = value.tolist()
    return found


def weights(state: Any, like: Weights, backend: Backend, rates: Rates, what: str) -> Weights:
    """Weights as `Weights.state` gave them, of the shapes of ``like``."""
    own = like.state()
    demand(isinstance(state, dict) and state.keys() == own.keys(), what)
    parts = {name: matrices(state[name], own[name], what) for name in own}
    minus = tuple(parts["inhibitory"]) if "inhibitory" in parts else None
    found = Weights(tuple(parts["encoders"]), tuple(parts["decoders"]), minus).on(backend)
    on_simplex(found.excitatory, rates, what)
    return found


def on_simplex(found: Sequence[Array], rates: Rates, what: str) -> None:
    """Under unit rates rows sum to at most 1."""
    allowed = rates == "free" or not any(map(over_one, found))
    demand(allowed, f"{what} (rows that sum to more than 1 under unit rates)")


def random_numbers(state: Any, random: np.random.RandomState) -> None:
    """Let ``random`` go on from what its ``get_state(legacy=False)`` gave."""
    own = random.get_state(legacy=False)
    what = "state of random numbers"
    demand(isinstance(state, dict) and state.keys() == own.keys(), what)
    demand(state["bit_generator"] == own["bit_generator"], what)
    inner = state["state"]
    demand(isinstance(inner, dict) and inner.keys() == own["state"].keys(), what)
    key = matrix(inner["key"], own["state"]["key"], what)
    whole(inner["pos"], what, 0, len(key))
    kept = whole(state["has_gauss"], what, 0, 1)
    gauss = number(state["gauss"], what, least=-inf)
    demand(bool(key.any()) and (kept == 1 or gauss == 0), what)
    random.set_state(state)


def totals(value: Any, part: Any, what: str, *, exact: bool) -> None:
    """Sums over rows (or largest values), alone or in lists.

    They are of the same build as those over a ``part`` of the rows, and not less: no number is
    below 0. If that is all of the rows they are ``exact``, but for rounding.
    """
    if isinstance(part, list | tuple):
        demand(isinstance(value, list) and len(value) == len(part), what)
        for one, other in zip(value, part, strict=True):
            totals(one, other, what, exact=exact)
        return
    if is_array(part) and part.ndim:
        part = to_numpy(part)
        matrix(value, part, what)
    else:
        part, value = np.float64(part), np.float64(number(value, what))
    rounding = slack(np.float32) * (part + part.max())
    demand(bool(np.all(value >= part - rounding)), what)
    demand(not exact or bool(np.all(value <= part + rounding)), what)


def agree(one: float, other: float, dtype: Any, what: str, scale: float = 1.0) -> None:
    """Demand that two numbers are the same but for rounding, on the ``scale`` of the data."""
    demand(abs(one - other) <= slack(dtype) * (scale + abs(other)), what)


def slack(dtype: Any) -> float:
    """By which share numbers of this type may differ that were computed in two ways."""
    return float(np.sqrt(np.finfo(host_dtype(dtype)).eps))


def alike(one: Array, other: Array, what: str) -> None:
    """Demand that two arrays are the same but for rounding."""
    a, b = (to_numpy(m).astype(np.float64) for m in (one, other))
    close = abs(a - b) <= slack(host_dtype(one.dtype)) * (abs(b) + abs(b).max())
    demand(bool(close.all()), what)
