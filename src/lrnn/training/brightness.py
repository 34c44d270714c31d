"""Data of any brightness: a network for dim ones is one for bright ones, with other weights.

Inputs that are all dimmer by some factor do the same where first weights are larger by it, and
outputs are dimmer by it where the last excitatory weights are smaller. So what is drawn at random
is drawn as if the highest number in the data were 1, and errors are told in units of its square.
"""

from array_api_compat import array_namespace
from scipy import sparse

from lrnn.arrays import Array, at_most
from lrnn.functional.gradients import LARGEST
from lrnn.network.weights import Weights
from lrnn.rows import Rows
from lrnn.tables.messages import SettingWarning, warn

BRIGHT = 0.5  # data with such a number are taken as if it were 1
DIM = 1e-7  # data below need first weights that are higher than any may become


def brightest(rows: Rows) -> float:
    """The highest number in the rows."""
    return float(rows.fold(_peak, max, rows.shape[1]))


def _peak(block: Array) -> float:
    """The highest number in a block, which may be sparse."""
    return float(block.max() if sparse.issparse(block) else array_namespace(block).max(block))


def brightness(rows: Rows) -> float:
    """The highest number in the rows, as far as weights can follow; 1 where it is not dim."""
    peak = brightest(rows)
    if 0 < peak < DIM:
        warn(
            SettingWarning(
                f"the highest number in X is {peak:.3g}, so dim that weights may not be as large "
                "as would be needed; give {scale=max}, which divides X by that"
            )
        )
    return max(peak, DIM) if 0 < peak < BRIGHT else 1.0


def dimmed(weights: Weights, peak: float, *, outputs: bool = True) -> Weights:
    """What does to data with this peak what ``weights`` do to those with 1.

    Their ``outputs`` are as dim, too, unless these are no data.
    """
    if peak == 1:
        return weights
    plus, minus = list(weights.excitatory), list(weights.inhibitory or ())
    for matrices in (plus, minus):
        matrices[:1] = [at_most(weight / peak, LARGEST) for weight in matrices[:1]]
    if outputs:
        plus[-1] = plus[-1] * peak
    return Weights.of(plus, minus or None, len(weights.encoders))
