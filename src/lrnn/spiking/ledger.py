"""What runs write down: sums per neuron, at every snapshot."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.spiking.plan import Plan

TICKS, EVENTS, LOOKS, OBSERVATIONS = range(4)
OBSERVED, BUSY, ARRIVED, FIRED, INHIBITED = range(5)


@dataclass
class Ledger:
    """Sums from the end of the warm-up to each snapshot.

    Attributes
    ----------
    counts : ndarray of int64 of shape (n_snapshots, 4, n_runs)
        Ticks, events, looks and observations; 0 where a run did not get so far.
    sums : ndarray of float32 of shape (n_snapshots, 4 or 5, n_runs, n_neurons)
        Observed potentials, looks that found the neuron excited, excitatory spikes that arrived,
        spikes fired and, if there are any, inhibitory spikes that arrived.
    firings, arrivals : ndarray of int64 of shape (n_rows, n_neurons)
        Spikes fired and received (excitatory), of all replicas together.
    spikes, trace : ndarray of int64 of shape (n, 2)
        Of the first run: tick and neuron of recorded spikes; tick and sum of all potentials.
    """

    counts: NDArray[np.int64]
    sums: NDArray[np.float32]
    firings: NDArray[np.int64]
    arrivals: NDArray[np.int64]
    spikes: NDArray[np.int64] | None = None
    trace: NDArray[np.int64] | None = None
    interrupted: bool = False

    @classmethod
    def of(cls, plan: Plan) -> "Ledger":
        """An empty ledger."""
        n, snapshots = plan.network.n_neurons, len(plan.snapshots)
        kinds = 5 if plan.inhibits else 4
        return cls(
            np.zeros((snapshots, 4, plan.n_runs), dtype=np.int64),
            np.zeros((snapshots, kinds, plan.n_runs, n), dtype=np.float32),
            np.zeros((plan.n_rows, n), dtype=np.int64),
            np.zeros((plan.n_rows, n), dtype=np.int64),
        )

    def write(self, snapshot: int, run: int, counts: Any, *sums: Any) -> None:
        """Put down what a run has come to at a snapshot."""
        for kind, values in enumerate(sums):
            self.sums[snapshot, kind, run] = values
        self.counts[snapshot, :, run] = counts[:4]
