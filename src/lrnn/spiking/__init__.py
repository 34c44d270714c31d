"""The network spike by spike: an exact simulation, event by event.

`reference` is the definition, in plain Python. The kernels (`cpu_kernel`, `cuda_kernel`) do the
same much faster, by uniformisation (`tables`); `plan` says what is to be run and when to look,
`ledger` holds what the runs write down, and `simulation` what can be learned from that.
"""

from lrnn.spiking.simulation import Convergence, Simulation

__all__ = ["Convergence", "Simulation"]
