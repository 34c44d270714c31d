"""Figures of models, of their training, and of simulations.

Data come first, then options, then ``ax``: a function draws into these Matplotlib axes, or into new
ones of pyplot, and returns them. `overview` and `simulated_layers` return whole figures, which
need no display.
"""

from lrnn.plots.comparisons import error_against_time, time_against_size
from lrnn.plots.curves import convergence, learning_curves
from lrnn.plots.decisions import accuracy_by_events
from lrnn.plots.detection import explanation, strangeness
from lrnn.plots.distributions import classes, codes, firing_rates
from lrnn.plots.frontier import frontier
from lrnn.plots.images import image_grid, layer_image
from lrnn.plots.model import overview, parts, reconstructions
from lrnn.plots.networks import network
from lrnn.plots.spikes import raster, simulated_layers
from lrnn.plots.width_paths import widths

__all__ = [
    "accuracy_by_events",
    "classes",
    "codes",
    "convergence",
    "error_against_time",
    "explanation",
    "firing_rates",
    "frontier",
    "image_grid",
    "layer_image",
    "learning_curves",
    "network",
    "overview",
    "parts",
    "raster",
    "reconstructions",
    "simulated_layers",
    "strangeness",
    "time_against_size",
    "widths",
]
