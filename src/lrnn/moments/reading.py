"""The first pass over the data: watched, and resumed where an earlier run has left it."""

from collections.abc import Callable
from typing import Any

from lrnn.rows.passes import fold_rows
from lrnn.typing import Array


class Reading:
    """A pass that nobody watches; :mod:`lrnn.training.reading` has one for training."""

    def fold(
        self,
        work: Callable[[Array], Array],
        combine: Callable[[Array, Array], Array],
        inputs: Any,
        begin: Array,
        **options: Any,
    ) -> Array:
        """See `lrnn.rows.fold_rows`; the total is an array, which is ``begin`` at first."""
        return fold_rows(work, combine, inputs, inputs.shape[1], begin=begin, **options)
