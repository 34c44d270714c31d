"""Training under unit rates: every weight is a probability, after every single step.

A neuron cannot pass on more spikes than it fires, so saturation decides what such a network can
do, and the second moment is not enough: the network is trained end to end.
"""

from lrnn.functional import adjust_rows
from lrnn.moments import second_moment
from lrnn.network.weights import Weights, random_weights
from lrnn.rows import Rows
from lrnn.training.anchors import find_anchors, sharpened
from lrnn.training.end_to_end import train_end_to_end
from lrnn.training.gram import nothing_to_learn, pass_through
from lrnn.training.history import Trained
from lrnn.training.run import Run
from lrnn.training.split import deepened

POWER = 4.0  # by which correlations with anchors are sharpened


def train_unit_rate(rows: Rows, run: Run) -> Trained:
    """Train all layers: a shallow network as wide as the narrowest one, split over them."""
    sizes = run.settings.sizes
    width, hidden = rows.shape[1], min(sizes)
    if run.settings.start is not None and len(sizes) > 2:
        return train_end_to_end(rows, run.settings.start, run)
    if hidden == width and run.settings.corruption is None:
        trained = Trained(pass_through(width, width, rows.weights), [nothing_to_learn(None)])
    else:
        if run.settings.start is not None:
            start = run.settings.start
        elif run.settings.anchors:
            start = anchored(rows, hidden)
        else:
            start = random_weights((width, hidden), run.random, rows.weights)
        trained = train_end_to_end(rows, start, run)
    if (width, hidden) == tuple(sizes):
        return trained
    return deepened(rows, trained, run)


def anchored(rows: Rows, hidden: int) -> Weights:
    """Each attribute sends its spikes to the anchors it correlates with, and gets them back."""
    correlations = find_anchors(second_moment(rows, hidden), hidden).correlations
    profile = rows.backend.xp.astype(sharpened(correlations, POWER), rows.dtype)
    return Weights((adjust_rows(profile),), (adjust_rows(profile.T),))
