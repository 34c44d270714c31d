"""The order in which neurons can be solved: strongly connected components, level by level."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from lrnn.arrays import Floats
from lrnn.network.feedback import excitation, solve_feedback

Indices = NDArray[np.intp]
Weights = Any  # a dense or sparse matrix of weights, or None where there are none

DENSE_ENOUGH = 0.2  # filled share of a block above which a dense product is the faster one


@dataclass(frozen=True)
class Stage:
    """Neurons whose activations follow from earlier stages and, with feedback, from their own.

    ``plus`` and ``minus`` are weights (rate × probability) from ``sources`` to ``neurons``,
    ``loop_plus`` and ``loop_minus`` those among the neurons of a stage with feedback.
    """

    neurons: Indices | slice
    sources: Indices | slice
    plus: Weights
    minus: Weights
    feedback: bool = False
    loop_plus: Weights = None
    loop_minus: Weights = None


def condense(rates: Floats, excitatory: Weights, inhibitory: Weights) -> list[Stage]:
    """Stages of a network, such that each depends on earlier ones and on itself only."""
    weights = [None if p is None else _incoming(rates, p) for p in (excitatory, inhibitory)]
    edges = sparse.csr_array(sum(sparse.csr_array(w != 0) for w in weights if w is not None))
    n_components, component = csgraph.connected_components(edges, connection="strong")
    cyclic = np.bincount(component, minlength=n_components)[component] > 1
    cyclic |= edges.diagonal() != 0
    level = _levels(edges, component, n_components)[component]
    order = np.lexsort((cyclic, level))
    breaks = np.flatnonzero(np.diff(level[order]) | np.diff(cyclic[order].astype(np.int8))) + 1
    return [
        _stage(neurons, bool(cyclic[neurons[0]]), *weights) for neurons in np.split(order, breaks)
    ]


def solve(
    stages: list[Stage], rates: Floats, arrivals: Floats, inhibition: Floats | None, tol: float
) -> tuple[Floats, float]:
    """Excitation probabilities for a batch of arrival rates (rows × neurons), and the residual."""
    q = np.empty(arrivals.shape)
    residual = 0.0
    for stage in stages:
        rate = rates[stage.neurons]
        known = q[:, stage.sources]
        plus = arrivals[:, stage.neurons] + flow(known, stage.plus)
        total = rate + flow(known, stage.minus)
        if inhibition is not None:
            total = total + inhibition[:, stage.neurons]
        if stage.feedback:
            total = np.broadcast_to(total, plus.shape)
            solved, left = solve_feedback(plus, total, rate, stage.loop_plus, stage.loop_minus, tol)
            residual = max(residual, float(left.max()))
        else:
            solved = excitation(plus, total)
        q[:, stage.neurons] = solved
    return q, residual


def flow(q: Floats, weights: Weights) -> Any:
    """Spikes per unit time that ``weights`` bring from neurons excited with probability ``q``."""
    return 0.0 if weights is None else q @ weights


def _incoming(rates: Floats, probabilities: Weights) -> Weights:
    """Weights rate × probability, in a form whose columns are cheap to take."""
    if sparse.issparse(probabilities):
        return sparse.csc_array(sparse.diags_array(rates) @ probabilities)
    return rates[:, None] * probabilities


def _levels(edges: sparse.csr_array, component: Indices, n_components: int) -> Indices:
    """Length of the longest path that leads to each component."""
    if n_components == 1:
        return np.zeros(1, dtype=np.intp)
    source, target = edges.nonzero()
    between = component[source] != component[target]
    links = sparse.csr_array(
        (np.ones(between.sum()), (component[source][between], component[target][between])),
        shape=(n_components, n_components),
    )
    waiting = np.bincount(links.indices, minlength=n_components)
    level = np.zeros(n_components, dtype=np.intp)
    ready = np.flatnonzero(waiting == 0)
    depth = 0
    while ready.size:
        level[ready] = depth
        reached, times = np.unique(links[ready].indices, return_counts=True)
        waiting[reached] -= times
        ready = reached[waiting[reached] == 0]
        depth += 1
    return level


def _stage(neurons: Indices, feedback: bool, plus: Weights, minus: Weights) -> Stage:
    columns = [None if w is None else w[:, neurons] for w in (plus, minus)]
    feeds = np.unique(np.concatenate([_rows(c) for c in columns if c is not None]))
    sources = np.setdiff1d(feeds, neurons) if feedback else feeds
    blocks = [None if c is None else _block(c, sources) for c in columns]
    loops = [None if c is None or not feedback else _block(c, neurons) for c in columns]
    return Stage(_span(neurons), _span(sources), blocks[0], blocks[1], feedback, loops[0], loops[1])


def _span(indices: Indices) -> Indices | slice:
    """A slice where the indices are consecutive: it costs no copy."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def _rows(columns: Weights) -> Indices:
    if sparse.issparse(columns):
        return np.asarray(columns.indices, dtype=np.intp)
    return np.flatnonzero(columns.any(axis=1))


def _block(columns: Weights, rows: Indices) -> Weights:
    """Take the given rows; dense where filled enough, None where empty."""
    block = columns[rows]
    if not sparse.issparse(block):
        return block if block.any() else None
    if not block.nnz:
        return None
    filled = block.nnz / (block.shape[0] * block.shape[1])
    return block.toarray() if filled > DENSE_ENOUGH else block
