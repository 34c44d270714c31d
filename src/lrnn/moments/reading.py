"""The first pass over the data: watched, and resumed where an earlier run has left it."""

from collections.abc import Callable
from typing import Any

from lrnn.arrays import Array
from lrnn.rows.passes import fold_rows


class Reading:
    """A pass that nobody watches; :mod:`lrnn.training.reading` has one for training."""

    def fold(
        self,
        work: Callable[[Array], Any],
        combine: Callable[[Any, Any], Any],
        inputs: Any,
        widest: int,
        begin: Any = None,
        **options: Any,
    ) -> Any:
        """See `lrnn.rows.fold_rows`."""
        return fold_rows(work, combine, inputs, widest, begin=begin, **options)
