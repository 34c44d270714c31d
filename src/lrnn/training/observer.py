"""Who watches a training run; this one does not say anything."""

from collections.abc import Callable
from typing import Any, TypeAlias

State: TypeAlias = dict[str, Any]
"""All that a loop needs to go on: arrays, numbers, text, and lists and dictionaries of them."""


class Observer:
    """Is told of every step, and may end the training after any pass."""

    def stage(self, task: str, iterations: int) -> None:
        """A new task begins that takes at most so many iterations."""

    def read(self, rows: int) -> None:
        """So many more rows have been read."""

    def iteration(self) -> None:
        """An iteration has ended."""

    def finished_pass(self, error: float) -> bool:
        """A pass has ended; the lowest error on all rows is this. True ends the training."""
        return False

    def resume(self) -> State | None:
        """What an earlier run left of the loop that begins now, if there is anything."""
        return None

    def skip(self, iterations: int, error: float) -> None:
        """So many iterations were made by the earlier run; the lowest error was this."""

    def checkpoint(self, state: Callable[[], State], finished: bool = False) -> None:
        """The loop could go on from ``state()``, or has ended there."""


def training(layer: int | None, how: str = "") -> str:
    """The name of the task of training layer pair ``layer`` (None: all together)."""
    return f"training{'' if layer is None else f' layer {layer}'}{how and f' ({how})'}"
