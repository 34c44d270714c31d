"""What an earlier run has left of a loop, read from a checkpoint: of the right shapes and types.

The checkpoint is whole, by its checksum, and of the same version of lrnn, settings and data. So its
numbers are those that this training would have come to.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from lrnn.arrays import Array, Backend, backend_of, host_dtype
from lrnn.network.weights import Weights

State: TypeAlias = dict[str, Any]
"""All that a loop needs to go on: arrays, numbers, text, and lists and dictionaries of them."""


class StateError(ValueError):
    """What an earlier run has left does not fit this training."""


@contextmanager
def fitting() -> Iterator[None]:
    """What an earlier run has left fits this training, or it is a `StateError`."""
    try:
        yield
    except StateError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        line = f"{type(error).__name__}: {error!s:.80}"
        raise StateError(f"its states are not those of this training ({line})") from None


def demand(holds: bool, what: str) -> None:
    """Complain of ``what`` unless it holds."""
    if not holds:
        raise StateError(f"its {what} cannot be right")


def number(value: Any, what: str) -> float:
    """A number that is not a truth value."""
    demand(type(value) in (int, float), f"{what} {value!r:.40}")
    return float(value)


def whole(value: Any, what: str, most: int) -> int:
    """A whole number that is not below 0."""
    demand(type(value) is int and 0 <= value <= most, f"{what} {value!r:.40}")
    return int(value)


def matrix(value: Any, like: Array, what: str) -> Array:
    """Numbers of the shape, type and place of ``like``."""
    shape, dtype = tuple(like.shape), host_dtype(like.dtype)
    fits = isinstance(value, np.ndarray) and (value.shape, value.dtype) == (shape, dtype)
    demand(fits, f"{what} (not {dtype} of the shape {shape})")
    return backend_of(like).send(value)


def matrices(values: Any, like: Sequence[Array], what: str) -> list[Array]:
    """As many as these, each as `matrix` demands."""
    demand(isinstance(values, list) and len(values) == len(like), f"number of {what}")
    return [matrix(value, one, what) for value, one in zip(values, like, strict=True)]


def series(value: Any, what: str, length: int | None = None) -> list[float]:
    """A curve, of some length."""
    like = np.empty(len(value) if length is None else length)
    found: list[float] = matrix(value, like, what).tolist()
    return found


def weights(state: Any, like: Weights, backend: Backend, what: str) -> Weights:
    """Weights as `Weights.state` gave them, of the shapes of ``like``."""
    parts = {name: matrices(state[name], own, what) for name, own in like.state().items()}
    minus = tuple(parts["inhibitory"]) if "inhibitory" in parts else None
    return Weights(tuple(parts["encoders"]), tuple(parts["decoders"]), minus).on(backend)


def random_numbers(state: Any, random: np.random.RandomState) -> None:
    """Let ``random`` go on from what its ``get_state(legacy=False)`` gave."""
    what, inner = "state of random numbers", state["state"]
    key = matrix(inner["key"], random.get_state(legacy=False)["state"]["key"], what)
    whole(inner["pos"], what, len(key))  # NumPy would read whatever is there
    random.set_state(state)
