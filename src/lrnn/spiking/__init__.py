"""The network spike by spike: an exact simulation, event by event.

The kernels (`cpu_kernel`, `cuda_kernel`) draw events by uniformisation: `simulate` plans and starts
them, `plan` is what runs share and count, `schedule` when, `until` how long; `on_cpu`, `on_gpu` and
`on_dask` make them, and `simulation` is what can be learned from it, `raster` single spikes.
`by_neuron` makes runs neuron by neuron, by `parts` of the network: in threads of this process,
`on_processes` or `on_workers` of a cluster. `tests/theory/reference.py` does the same in plain
Python, and tests compare the kernels with it.
"""

from lrnn.spiking.raster import Raster
from lrnn.spiking.simulation import Convergence, Simulation, Transient
from lrnn.spiking.until import Decision, Precision, SpikeCount

__all__ = [
    "Convergence",
    "Decision",
    "Precision",
    "Raster",
    "Simulation",
    "SpikeCount",
    "Transient",
]
