r"""The model's mathematics as pure functions on arrays.

Every function takes and returns plain arrays of one namespace of the array API (NumPy, torch,
CuPy, array-api-strict …); the data matrix may also be a SciPy sparse array where the docstring
says so. Nothing here keeps state, reads files or knows of estimators.

Notation, after Yin & Gelenbe (2016): data :math:`X` (rows × attributes, called ``inputs``),
encoder :math:`W` (attributes × hidden), decoder :math:`\overline{W}` (hidden × attributes),
codes :math:`Q = \min(XW, 1)`. Equation numbers are the paper's.
"""

from lrnn.functional.codes import refined_codes
from lrnn.functional.filling import code_prior, fill_gaps
from lrnn.functional.forward import (
    activations,
    column_sums,
    complement_coded,
    complement_decoded,
    propagate,
    saturate,
    squared_error,
    weighed,
)
from lrnn.functional.gradients import (
    error_gradients,
    free_gradient,
    reroot,
    reroute,
    reweight,
    root_gradient,
    route_gradient,
)
from lrnn.functional.gram import (
    descend_decoder,
    descend_decoders,
    extrapolate,
    gram_cost,
    gram_error,
)
from lrnn.functional.realisation import firing_rates, firings, routing, used_rates
from lrnn.functional.shares import share_gradients, shares
from lrnn.functional.updates import (
    adjust_rows,
    multiply,
    normalisation,
    row_sums,
    update_decoder,
    update_encoder,
)

__all__ = [
    "activations",
    "adjust_rows",
    "code_prior",
    "column_sums",
    "complement_coded",
    "complement_decoded",
    "descend_decoder",
    "descend_decoders",
    "error_gradients",
    "extrapolate",
    "fill_gaps",
    "firing_rates",
    "firings",
    "free_gradient",
    "gram_cost",
    "gram_error",
    "multiply",
    "normalisation",
    "propagate",
    "refined_codes",
    "reroot",
    "reroute",
    "reweight",
    "root_gradient",
    "route_gradient",
    "routing",
    "row_sums",
    "saturate",
    "share_gradients",
    "shares",
    "squared_error",
    "update_decoder",
    "update_encoder",
    "used_rates",
    "weighed",
]
