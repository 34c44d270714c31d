"""The first pass over the data, shown to an observer and kept in its checkpoints."""

from collections.abc import Callable
from typing import Any

from lrnn.arrays import Array, Backend, backend_of, is_array
from lrnn.moments.reading import Reading
from lrnn.training.observer import Observer, State


class ObservedReading(Reading):
    """A pass over the rows that an observer is told of, and that goes on where it was left."""

    def __init__(self, observer: Observer, task: str) -> None:
        self._observer = observer
        self._task = task

    def fold(
        self,
        work: Callable[[Array], Any],
        combine: Callable[[Any, Any], Any],
        inputs: Any,
        widest: int,
        begin: Any = None,
        **options: Any,
    ) -> Any:
        """See `lrnn.rows.fold_rows`; only where reading takes long is it kept in checkpoints."""
        observer, done = self._observer, 0
        observer.stage(self._task, inputs.shape[0])
        kept = hasattr(inputs, "fold")
        if kept and (saved := observer.resume()):
            begin, done = _sent(saved["total"], backend_of(inputs)), saved["rows"]
            observer.read(done)
        total = begin

        def state() -> State:
            return {"total": total, "rows": done}

        def heard(rows: int, so_far: Any) -> None:
            nonlocal total, done
            observer.read(rows - done)
            total, done = so_far, rows
            if kept:
                observer.checkpoint(state)

        if done < inputs.shape[0]:
            total = super().fold(
                work, combine, inputs, widest, begin, skip=done, heard=heard, **options
            )
        if kept:
            observer.checkpoint(state, finished=True)
        return total


def _sent(value: Any, backend: Backend) -> Any:
    """Arrays from a checkpoint, alone or in lists, to where the work is."""
    if isinstance(value, list):
        return [_sent(v, backend) for v in value]
    return backend.send(value) if is_array(value) else value
