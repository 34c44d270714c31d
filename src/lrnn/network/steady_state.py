r"""The steady state of a random neural network: order of solution, feedback, result.

Neurons are solved in the order of the network's strongly connected components, level by level.
Where there is no cycle, an activation follows from those before it by eq. 1; neurons that feed back
on each other are iterated.

**Why the iteration cannot fail.** Let T be the right-hand side of eq. 1. For two states that differ
by :math:`d` and a neuron that is saturated in neither,

.. math:: (T(q)_i - T(q')_i)\,\Big(r_i + \lambda_i + \sum_j q_j w^-_{ji}\Big)
          = \sum_j d_j\, \big(w^+_{ji} - T(q')_i\, w^-_{ji}\big) .

Since :math:`T(q') \le 1` and :math:`\sum_i (w^+_{ji} + w^-_{ji}) \le r_j`,

.. math:: \sum_i r_i\, |T(q)_i - T(q')_i| \;\le\; \sum_j r_j\, |d_j|

(clipping at 1 only helps): T is non-expansive in the rate-weighted 1-norm, the *flow* by which
two states differ. So the residual in that norm never rises along the plain iteration, and the
averaged iteration :math:`q \leftarrow (q + T(q))/2` converges to a solution from anywhere
(Ishikawa, 1976), also where the plain one swings for millions of steps, or for ever. That
guarantees an answer; Newton steps (semismooth, because of the saturation) make it fast. They start
from where the plain iteration got to and, should that not do, from full saturation: without
inhibition T is monotone and concave, and from above Newton's iteration then falls monotonically to
the solution in finitely many steps. Neurons that no spike can ever reach stay at 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, gmres, spilu

from lrnn.arrays import Floats

Indices = NDArray[np.intp]
WeightMatrix = Any  # a dense or sparse matrix of weights, or None where there are none

DENSE_ENOUGH = 0.2  # filled share of a block above which a dense product is the faster one
TOLERANCE = 1e-12
PLAIN_STEPS = 64  # of the plain iteration, all rows at once, before Newton's
PATIENCE = 20  # Newton steps without progress that end an attempt
ROUNDS = 50  # of averaged steps and another attempt, after the first two
AVERAGED_STEPS = 64  # in each round
DENSE_NEWTON = 3_000  # neurons up to which a linear system is factorised
SYSTEM_CELLS = 1 << 20  # numbers in systems that are factorised at once
GOOD_ENOUGH = 1e4  # times the share that was asked for may be left over by an iterative solution
ROUNDING = 1e-14  # share to which eq. 1 can be met in floating-point numbers
SMALLEST = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)  # that has all its digits
LEAK = 1e-13  # keeps the Newton system of a network without any loss of spikes regular
LOSSLESS = 4 * float(np.finfo(np.float64).eps)  # share of its spikes that a closed loop may lose


class SteadyState(np.ndarray[Any, np.dtype[np.float64]]):
    """Excitation probabilities: an array that also knows the law of the potentials.

    A slice of it is a steady state again; arithmetic on it gives plain arrays.

    Examples
    --------
    >>> q = np.array([0.5, 1.0]).view(SteadyState)
    >>> q.saturated
    array([False,  True])
    >>> q.mean_potential
    array([ 1., inf])
    >>> q.probability(2)
    array([0.125, 0.   ])
    """

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else plain

    @property
    def saturated(self) -> NDArray[np.bool_]:
        """Which neurons are excited all the time: their potential grows without bound."""
        return np.asarray(self) >= 1

    @property
    def mean_potential(self) -> Floats:
        """Mean potential q/(1−q); infinite where saturated."""
        q = np.asarray(self)
        with np.errstate(divide="ignore"):
            return np.asarray(q / (1 - q))

    def probability(self, potential: int) -> Floats:
        """Probability (1−q)·qᵏ that the potential is k; 0 where saturated.

        Parameters
        ----------
        potential : int
            k, 0 or more.

        Returns
        -------
        probability : ndarray of the shape of q
            Of each neuron.

        Examples
        --------
        >>> from lrnn import RandomNeuralNetwork
        >>> q = RandomNeuralNetwork([1.0], [[0.0]]).steady_state([0.5])
        >>> q.probability(0), q.probability(1)
        (array([0.5]), array([0.25]))
        """
        if potential < 0 or potential != int(potential):
            raise ValueError(f"a potential is a whole number, 0 or more; got {potential!r}")
        q = np.asarray(self)
        return np.asarray((1 - q) * q**potential)


@dataclass(frozen=True)
class Stage:
    """Neurons whose activations follow from earlier stages and, with feedback, from their own.

    ``plus`` and ``minus`` are weights (rate × probability) from ``sources`` to ``neurons``,
    ``loop_plus`` and ``loop_minus`` those among the neurons of a stage with feedback.
    """

    neurons: Indices | slice
    sources: Indices | slice
    plus: WeightMatrix
    minus: WeightMatrix
    feedback: bool = False
    loop_plus: WeightMatrix = None
    loop_minus: WeightMatrix = None


def condense(rates: Floats, excitatory: WeightMatrix, inhibitory: WeightMatrix) -> list[Stage]:
    """Stages of a network, such that each depends on earlier ones and on itself only."""
    weights = [None if p is None else _incoming(rates, p) for p in (excitatory, inhibitory)]
    connected = [w != 0 for w in weights if w is not None]
    edges = sparse.csr_array(sum(connected[1:], connected[0]))
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


def flow(q: Floats, weights: WeightMatrix) -> Any:
    """Spikes per unit time that ``weights`` bring from neurons excited with probability ``q``."""
    return 0.0 if weights is None else q @ weights


def _incoming(rates: Floats, probabilities: WeightMatrix) -> WeightMatrix:
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


def _stage(neurons: Indices, feedback: bool, plus: WeightMatrix, minus: WeightMatrix) -> Stage:
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


def _rows(columns: WeightMatrix) -> Indices:
    if sparse.issparse(columns):
        return np.asarray(columns.indices, dtype=np.intp)
    return np.flatnonzero(columns.any(axis=1))


def _block(columns: WeightMatrix, rows: Indices) -> WeightMatrix:
    """Take the given rows; dense where filled enough, None where empty."""
    block = columns[rows]
    if not sparse.issparse(block):
        return block if block.any() else None
    if not block.nnz:
        return None
    filled = block.nnz / (block.shape[0] * block.shape[1])
    return block.toarray() if filled > DENSE_ENOUGH else block


def excitation(plus: Floats, total: Floats) -> Floats:
    """``min(plus / total, 1)``; 0 where nothing arrives, 1 where nothing takes spikes away."""
    q = (plus > 0).astype(float)
    np.divide(plus, total, out=q, where=plus < total)
    return q


def violation(q: Floats, image: Floats) -> Floats:
    """By which share ``q`` differs from its ``image`` T(q), neuron by neuron: 1 is all of it.

    An activation of 1e-13 matters as much as one of 0.1: a fast neuron that is hardly ever excited
    may be all that excites a slow one.
    """
    return np.abs(image - q) / np.maximum(np.maximum(image, q), SMALLEST)


def solve_feedback(
    plus: Floats,
    total: Floats,
    rates: Floats,
    loop_plus: WeightMatrix,
    loop_minus: WeightMatrix,
    tol: float,
) -> tuple[Floats, Floats]:
    """Activations of a batch of rows, and the largest `violation` of eq. 1 in each.

    ``plus`` and ``total`` are numerator and denominator of eq. 1 without the loops.
    """
    whole = loop = Loop(plus, total, rates, loop_plus, loop_minus)
    q = np.empty(plus.shape)
    residual = np.full(len(plus), np.inf)
    rows = np.arange(len(plus))
    state, before = np.zeros(plus.shape), residual
    for _ in range(PLAIN_STEPS):
        image = loop(state)
        found = violation(state, image).max(axis=1)
        # where steps shrink by a factor s, all further ones together are 1/(1 − s) times the next
        with np.errstate(invalid="ignore"):
            moving = ~(found <= tol * np.clip(1 - found / before, ROUNDING, 1)) & (found > 0)
        if moving.all():
            state, before = image, found
            continue
        q[rows[~moving]], residual[rows[~moving]] = state[~moving], found[~moving]
        rows, state, before, loop = rows[moving], image[moving], found[moving], loop.rows(moving)
        if not len(rows):
            return whole.fill(q, residual)
    q[rows], residual[rows] = loop.solve(state, tol)
    return whole.fill(q, residual)


@dataclass(frozen=True)
class Loop:
    """The map T of eq. 1 for neurons that feed back on each other, for a batch of rows."""

    plus: Floats
    total: Floats
    rates: Floats
    loop_plus: WeightMatrix
    loop_minus: WeightMatrix

    def __call__(self, q: Floats) -> Floats:
        """T(q)."""
        return excitation(*self.drive(q))

    def drive(self, q: Floats) -> tuple[Floats, Floats]:
        """Numerator and denominator of eq. 1."""
        plus = self.plus if self.loop_plus is None else self.plus + q @ self.loop_plus
        total = self.total if self.loop_minus is None else self.total + q @ self.loop_minus
        return plus, total

    def rows(self, chosen: Any) -> "Loop":
        """The same map for some of the rows."""
        return Loop(
            self.plus[chosen], self.total[chosen], self.rates, self.loop_plus, self.loop_minus
        )

    def reached(self) -> Floats:
        """1 for neurons that a spike from outside can reach, 0 for the others."""
        outside = self.plus > 0
        if self.loop_plus is None:
            return outside.astype(float)
        size = len(self.rates)
        reached = np.zeros((len(outside), size + 1))
        inside = sparse.csr_array(self.loop_plus)
        for row, entries in zip(reached, outside, strict=True):
            door = sparse.csr_array(entries.astype(float)[None, :])
            edges = sparse.block_array([[None, door], [sparse.csr_array((size, 1)), inside]])
            found = csgraph.breadth_first_order(
                sparse.csr_array(edges), 0, return_predecessors=False
            )
            row[found] = 1
        return reached[:, 1:]

    def solve(self, q: Floats, tol: float) -> tuple[Floats, Floats]:
        """The steady states from approximate ones, and the residual of each row."""
        tol = max(tol, ROUNDING)  # no use in iterating for less
        best, least = self._newton(q, tol)
        for attempt in range(1 + ROUNDS):
            left = np.flatnonzero(least > tol)
            if not len(left):
                break
            loop = self.rows(left)
            if attempt == 0:
                q = loop.reached()
            else:
                q = best[left]
                for _ in range(AVERAGED_STEPS):
                    q = (q + loop(q)) / 2
            found, residual = loop._newton(q, tol)
            better = residual < least[left]
            best[left[better]], least[left[better]] = found[better], residual[better]
        return best, least

    def fill(self, q: Floats, residual: Floats) -> tuple[Floats, Floats]:
        """Closed loops that no spike leaves are filled by the slightest inflow.

        One of their neurons is saturated then, at least. Where the inflow is so slight that
        Newton's leak takes it away, activations are in the right proportion, but too small; and
        where rounding takes away the last bit, they are not quite 1.
        """
        if self.loop_plus is None:
            return q, residual
        kept = np.asarray(self.loop_plus.sum(axis=1)).ravel() >= self.rates * (1 - LOSSLESS)
        if not kept.any():
            return q, residual
        count, component = csgraph.connected_components(
            sparse.csr_array(self.loop_plus != 0), connection="strong"
        )
        taken = (self.total > self.rates).any(axis=0)
        if self.loop_minus is not None:
            taken |= np.asarray(abs(self.loop_minus).sum(axis=0)).ravel() > 0
        closed = np.ones(count, dtype=np.bool_)
        closed[component[~kept | taken]] = False
        source, target = self.loop_plus.nonzero()
        closed[component[source[component[source] != component[target]]]] = False
        q = q.copy()
        for loop in np.flatnonzero(closed):
            own = component == loop
            most = q[:, own].max(axis=1, keepdims=True)
            inflow = (self.plus[:, own] > 0).any(axis=1, keepdims=True)
            full = q[:, own] / np.where(inflow & (most > 0), most, 1.0)
            near = inflow & (full > 1 - 10 * LEAK * np.count_nonzero(own))
            q[:, own] = np.where(near, 1.0, full)
        return q, np.minimum(residual, violation(q, self(q)).max(axis=1))

    def _newton(self, q: Floats, tol: float) -> tuple[Floats, Floats]:
        """Newton steps in each row as long as its residual, or all of q, goes down.

        Returns the best state seen of each row, and its residual.
        """
        best, least = q.copy(), np.full(len(q), np.inf)
        rows = np.arange(len(q))
        idle, settled = np.zeros(len(q), dtype=int), np.zeros(len(q), dtype=bool)
        loop = self
        while True:
            plus, total = loop.drive(q)
            image = excitation(plus, total)
            residual = violation(q, image).max(axis=1)
            idle = np.where(residual < 0.9 * least[rows], 0, idle + 1)
            better = residual < least[rows]
            best[rows[better]], least[rows[better]] = q[better], residual[better]
            going = ~settled & (idle <= PATIENCE)
            if not going.any():
                return best, least
            if not going.all():
                rows, idle, q, image = rows[going], idle[going], q[going], image[going]
                plus, total = plus[going], total[going]
                loop = self.rows(rows)
            settled = least[rows] <= tol  # one step more, and the rest is rounding
            step = loop._newton_step(image - q, image, plus, total)
            before = q
            # one application of T smooths what clipping to [0, 1] broke
            q = loop(np.clip(q + step, 0, 1))
            idle[(q <= before).all(axis=1) & (q < before).any(axis=1)] = 0

    def _newton_step(self, gap: Floats, image: Floats, plus: Floats, total: Floats) -> Floats:
        """Solve ``d − T'(q) d = T(q) − q``; a saturated neuron has no derivative."""
        slope = (1 - LEAK) * (plus < total) * self.rates / total
        flows = self.rates * gap
        found, _ = solve_linear(self.rates, self.loop_plus, self.loop_minus, slope, image, flows)
        return np.where(np.isfinite(found), found, flows) / self.rates


def solve_linear(
    rates: Floats,
    loop_plus: WeightMatrix,
    loop_minus: WeightMatrix,
    slope: Floats,
    q: Floats,
    right: Floats,
    *,
    adjoint: bool = False,
    rtol: float = 1e-6,
) -> tuple[Floats, float]:
    """For each row ``y`` with ``y − y @ W = right`` or, if adjoint, ``y − W @ y = right``.

    W is T'(q) in flows (rate × q): weights divided by the sender's rate and multiplied by the
    receiver's ``slope``, inhibitory ones also by its −q. Its rows sum to at most 1, which makes
    the system diagonally dominant. Where it is singular all the same, ``y`` is not a number.

    Also returns the largest share of ``right`` that is left over: 0 if systems are factorised; else
    an iteration ends at ``rtol``, as a rule.
    """
    size, weights = len(rates), [loop_plus, loop_minus]
    found, residual = np.empty(right.shape), 0.0
    if size > DENSE_NEWTON and all(w is None or sparse.issparse(w) for w in weights):
        empty = sparse.csc_array((size, size))
        plus, minus = (empty if w is None else sparse.diags_array(1 / rates) @ w for w in weights)
        for row, receives in enumerate(slope):
            matrix = plus @ sparse.diags_array(receives)
            matrix = matrix - minus @ sparse.diags_array(receives * q[row])
            matrix = sparse.eye_array(size) - (matrix if adjoint else matrix.T)
            found[row], left = _sparse_solution(sparse.csr_array(matrix), right[row], rtol)
            residual = max(residual, left)
        return found, residual
    plus, minus = (0.0 if w is None else dense(w) / rates[:, None] for w in weights)
    at_once = max(1, SYSTEM_CELLS // size**2)
    for start in range(0, len(right), at_once):
        part = slice(start, start + at_once)
        receives = slope[part, None, :]
        matrices = np.eye(size) - plus * receives
        if loop_minus is not None:
            matrices += minus * (receives * q[part, None, :])
        found[part] = _dense_solutions(
            matrices if adjoint else matrices.transpose(0, 2, 1), right[part]
        )
    return found, residual


def dense(weights: WeightMatrix) -> Floats:
    """The same weights as a dense matrix."""
    return np.asarray(weights.toarray() if sparse.issparse(weights) else weights)


def _dense_solutions(matrices: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrices, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        if len(right) == 1:
            return np.full(right.shape, np.nan)
        singly = [_dense_solutions(m[None], r[None]) for m, r in zip(matrices, right, strict=True)]
        return np.concatenate(singly)


def _sparse_solution(matrix: sparse.csr_array, right: Floats, rtol: float) -> tuple[Floats, float]:
    """By an iterative method, with an incomplete factorisation where it needs one."""
    scale = np.abs(right).sum() or 1.0
    solution, _ = gmres(matrix, right, rtol=rtol, restart=50, maxiter=4)
    left = np.abs(matrix @ solution - right).sum() / scale
    if left > GOOD_ENOUGH * rtol:
        factors = spilu(sparse.csc_array(matrix), drop_tol=1e-5, fill_factor=20)
        nearly = LinearOperator(matrix.shape, factors.solve, dtype=np.float64)
        solution, _ = gmres(matrix, right, rtol=rtol, restart=50, maxiter=4, M=nearly)
        left = np.abs(matrix @ solution - right).sum() / scale
    return np.asarray(solution, dtype=np.float64), float(left)
