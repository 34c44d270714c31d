"""Who watches a training run; this one does not say anything."""


class Observer:
    """Is told of every step, and may end the training after any pass."""

    def stage(self, layer: int | None, passes: int, iterations: int) -> None:
        """Layer pair ``layer`` (None: all together) is about to be trained.

        It takes at most so many passes of so many iterations each.
        """

    def iteration(self, error: float) -> None:
        """An iteration has ended with this error on its minibatch."""

    def finished_pass(self, error: float) -> bool:
        """A pass has ended; the lowest error on all rows is this. True ends the training."""
        return False
