"""What a random neural network may be made of: checks that name the neuron and the rule."""

from collections.abc import Sequence
from numbers import Real
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lrnn.arrays import Floats, beyond_floats, is_array, to_numpy


def check_rates(rates: ArrayLike) -> Floats:
    """Firing rates as a read-only vector of finite numbers ≥ 0."""
    vector = _numbers(rates, "rates", copy=True)
    if vector.ndim != 1 or not len(vector):
        raise ValueError(
            f"rates must be a vector of one firing rate per neuron, got {vector.shape}"
        )
    _no_offender(vector, "the firing rate of neuron {0} is {value}")
    vector.flags.writeable = False
    return vector


def check_layer_sizes(n_neurons: int, sizes: Sequence[int] | None) -> tuple[int, ...] | None:
    """Layer sizes as whole numbers that add up to the number of neurons."""
    if sizes is None:
        return None
    listed = tuple(index(n) if hasattr(n, "__index__") else n for n in sizes)
    if any(not isinstance(n, int) or n < 1 for n in listed):
        raise ValueError(f"layer_sizes {listed} must be whole numbers, 1 or more")
    if sum(listed) != n_neurons:
        raise ValueError(
            f"layer_sizes {listed} add up to {sum(listed)}, but there are {n_neurons} neurons"
        )
    return listed


def check_layer_names(
    sizes: Sequence[int] | None, names: Sequence[str] | None
) -> tuple[str, ...] | None:
    """One name, a text of its own, for each of two or more layers."""
    if names is None:
        return None
    listed, count = tuple(names), len(sizes or ())
    texts = all(isinstance(name, str) and name for name in listed)
    if isinstance(names, str) or not texts or len({*listed}) < len(listed):
        raise ValueError(f"layer_names must be different texts, got {names!r}")
    if len(listed) != count or count < 2:
        raise ValueError(
            f"there are {len(listed)} layer_names for {count} layers; give layer_sizes of two or "
            "more layers, and a name for each"
        )
    return listed


def check_probabilities(n_neurons: int, excitatory: Any, inhibitory: Any) -> tuple[Any, Any]:
    """Routing probabilities as read-only matrices whose rows sum to at most 1 together."""
    plus = _routing(n_neurons, excitatory, "excitatory")
    minus = None if inhibitory is None else _routing(n_neurons, inhibitory, "inhibitory")
    sums = np.asarray(plus.sum(axis=1)) + (0.0 if minus is None else np.asarray(minus.sum(axis=1)))
    over = np.flatnonzero(sums > 1 + rounding(n_neurons, excitatory, inhibitory))
    if len(over):
        raise ValueError(
            f"neuron {over[0]} sends its spikes with total probability {sums[over[0]]:.6g}, more "
            f"than 1{_others(len(over))}; rows of excitatory + inhibitory must sum to at most 1. "
            "Weights that are rates × probabilities go into RandomNeuralNetwork.from_layers"
        )
    return plus, minus


def check_weights(
    weights: Sequence[Any], inhibitory: Sequence[Any] | None
) -> tuple[list[Floats], list[Floats | None] | None]:
    """Weights between consecutive layers: finite, nonnegative, of shapes that fit together."""
    if not len(weights):
        raise ValueError("weights is empty; give one matrix per connection between layers")
    plus = [_weight_matrix(w, f"weights[{i}]") for i, w in enumerate(weights)]
    for i in range(1, len(plus)):
        if len(plus[i]) != plus[i - 1].shape[1]:
            raise ValueError(
                f"weights[{i}] has {len(plus[i])} rows, but weights[{i - 1}] leads to "
                f"{plus[i - 1].shape[1]} neurons"
            )
    if inhibitory is None:
        return plus, None
    if len(inhibitory) != len(plus):
        raise ValueError(f"{len(plus)} excitatory but {len(inhibitory)} inhibitory matrices given")
    minus = [
        None if w is None else _weight_matrix(w, f"inhibitory[{i}]")
        for i, w in enumerate(inhibitory)
    ]
    for i, (p, m) in enumerate(zip(plus, minus, strict=True)):
        if m is not None and m.shape != p.shape:
            raise ValueError(f"inhibitory[{i}] has shape {m.shape}, weights[{i}] has {p.shape}")
    return plus, minus


def check_unit_rows(weights: Sequence[Floats], inhibitory: Sequence[Floats | None] | None) -> None:
    """Rows of weights between layers must sum to at most 1 to be probabilities themselves."""
    for layer, plus in enumerate(weights):
        minus = None if inhibitory is None else inhibitory[layer]
        sums = plus.sum(axis=1) + (0.0 if minus is None else minus.sum(axis=1))
        over = np.flatnonzero(sums > 1 + rounding(plus.shape[1], plus, minus))
        if len(over):
            raise ValueError(
                f"the weights of neuron {over[0]} of layer {layer} sum to {sums[over[0]]:.6g}, "
                f"more than 1{_others(len(over))}: with unit rates they would be probabilities. "
                "Use rates='free'"
            )


def check_arrivals(
    n_neurons: int, arrivals: ArrayLike, inhibitory: ArrayLike | None
) -> tuple[Floats, Floats | None]:
    """Arrival rates for one vector or a batch of rows; the inhibitory ones may be one for all."""
    plus = _arrival_rates(n_neurons, arrivals, "arrivals")
    if inhibitory is None:
        return plus, None
    minus = _arrival_rates(n_neurons, inhibitory, "inhibitory_arrivals")
    if minus.ndim > 1 and minus.shape != plus.shape:
        raise ValueError(
            f"inhibitory_arrivals has shape {minus.shape}; it must be ({n_neurons},) or that of "
            f"arrivals, {plus.shape}"
        )
    return plus, minus


def check_of_rows(n_neurons: int, values: ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    """Finite numbers, one per neuron: for each row of ``shape``, or one vector for all rows."""
    array = _numbers(values, name)
    if array.shape not in (shape, (n_neurons,)):
        raise ValueError(
            f"{name} has shape {array.shape}; it must be ({n_neurons},) or that of arrivals, "
            f"{shape}"
        )
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0])
        place = f"{where[-1]}" + (f" in row {where[0]}" if array.ndim > 1 else "")
        raise ValueError(f"{name} is {array[where]} at neuron {place}; it must be finite")
    return array


def _arrival_rates(n_neurons: int, arrivals: ArrayLike, name: str) -> Floats:
    array = _numbers(arrivals, name)
    if array.ndim not in (1, 2) or array.shape[-1] != n_neurons:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be ({n_neurons},) or (rows, {n_neurons}), "
            "one rate per neuron"
        )
    place = "{0}" if array.ndim == 1 else "{1} in row {row}"
    _no_offender(array, f"{name}: the rate at neuron {place} is {{value}}")
    return array


def _routing(n_neurons: int, probabilities: Any, name: str) -> Any:
    matrix: Any
    if sparse.issparse(probabilities):
        matrix = sparse.csr_array(probabilities, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        cells, coordinates = matrix.data, matrix.nonzero
    else:
        matrix = _numbers(probabilities, name, copy=True)
        cells, coordinates = matrix, None
    if matrix.shape != (n_neurons, n_neurons):
        raise ValueError(
            f"{name} has shape {matrix.shape}; for {n_neurons} rates it must be "
            f"({n_neurons}, {n_neurons})"
        )
    message = f"the {name} probability from neuron {{0}} to neuron {{1}} is {{value}}"
    _no_offender(cells, message, coordinates)
    cells.flags.writeable = False
    return matrix


def _weight_matrix(weights: Any, name: str) -> Floats:
    matrix = _numbers(weights.toarray() if sparse.issparse(weights) else weights, name)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name} must be a matrix with rows and columns, got shape {matrix.shape}")
    _no_offender(matrix, f"{name}: the weight from neuron {{0}} to neuron {{1}} is {{value}}")
    return matrix


def _numbers(values: Any, name: str, copy: bool | None = None) -> Floats:
    """Values in float64, or an error that names the first that is no such number."""
    given = to_numpy(values) if is_array(values) else values
    try:
        return np.array(given, dtype=np.float64, copy=copy)
    except (OverflowError, TypeError, ValueError) as error:
        for where, value in np.ndenumerate(np.array(given, dtype=object)):
            if isinstance(value, Real) and not beyond_floats(value):
                continue
            shown = "larger than any float" if isinstance(value, Real) else repr(value)
            place = ", ".join(map(str, where))
            raise ValueError(f"{name}[{place}] is {shown}; it must be a finite number") from error
        raise ValueError(f"{name} must be an array of numbers: {error}") from error


def _no_offender(array: Floats, message: str, coordinates: Any = None) -> None:
    """Raise, with place and value, if a number is negative, infinite or not a number."""
    if array.size and not 0 <= array.min() <= array.max() < np.inf:
        offends = ~(np.isfinite(array) & (array >= 0))
        where = np.argwhere(offends)[0]
        value = array[tuple(where)]
        place = [axis[where[0]] for axis in coordinates()] if coordinates else where
        raise ValueError(
            message.format(*place, row=place[0] + 1, value=f"{value:.6g}")
            + f"{_others(int(offends.sum()))}; it must be finite and 0 or more"
        )


def _others(count: int) -> str:
    return f" (and {count - 1} more like it)" if count > 1 else ""


def rounding(terms: int, *matrices: Any) -> float:
    """By how much rows that were made to sum to 1 may exceed it."""
    return float(4 * np.sqrt(terms) * max(map(_epsilon, matrices)))


def _epsilon(array: Any) -> float:
    """Rounding unit of the numbers as they were given."""
    dtype = getattr(array, "dtype", np.dtype(np.float64))
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return float(max(np.finfo(dtype).eps, np.finfo(np.float64).eps))
    return float(np.finfo(np.float64).eps)
