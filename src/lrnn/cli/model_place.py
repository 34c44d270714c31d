"""Where ``lrnn fit`` puts a model, and its checkpoints while it is trained."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrnn.cli.inputs import check_leftover
from lrnn.cli.outputs import check_named, check_new, named_after
from lrnn.cli.voice import Voice


@dataclass(frozen=True)
class ModelPlace:
    """The file of a model that is trained: nothing is replaced unasked, and nothing gets lost.

    Attributes
    ----------
    output : Path
        The file.
    force : bool
        Whether it may replace another one.
    resume : bool or None
        Whether to go on from a checkpoint, or to throw it away; None if nobody has said so.
    """

    output: Path
    force: bool
    resume: bool | None

    @classmethod
    def of(
        cls, output: Path | None, data: str, force: bool, resume: bool | None, *others: Any
    ) -> "ModelPlace":
        """The place that was named, or one named after the data; apart from what is read."""
        from lrnn.tables.atomic import check_apart

        output = output or named_after(data, ".safetensors")
        check_named(output)
        check_apart(output, data, *others)
        found = cls(output, force, resume)
        found._check_new()
        return found

    @property
    def unfinished(self) -> Path:
        """The checkpoint."""
        return self.output.with_name(f"{self.output.name}.checkpoint")

    @contextmanager
    def alone(self, voice: Voice) -> Iterator[None]:
        """No other process writes to it meanwhile."""
        from lrnn.tables.atomic import sole_writer

        with sole_writer(self.output):
            self._check_new()  # another process may have been quicker
            check_leftover(self.unfinished, self.resume, voice)
            yield

    def save(self, model: Any) -> bool:
        """Write the model, and tell whether its training was interrupted; else the checkpoint goes.

        If writing fails, not to lose it, it goes to the system's folder for such things.
        """
        from lrnn.tables.atomic import remove

        try:
            model.save(self.output)
        except OSError as error:
            handle, name = tempfile.mkstemp(prefix="lrnn-", suffix=".safetensors")
            os.close(handle)
            try:
                model.save(name)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise error from None
            raise OSError(
                f"{error.strerror}: {str(self.output)!r}. The model was trained, and is in "
                f"{name!r} instead"
            ) from None
        interrupted = bool(model.history_[-1].stopped == "interrupted")
        if not interrupted:
            remove(self.unfinished)
        return interrupted

    def _check_new(self) -> None:
        check_new(self.force, self.output, own=self._is_unfinished)

    def _is_unfinished(self) -> bool:
        """Whether the file is the model of a training that was interrupted."""
        import lrnn

        try:
            found = lrnn.load(self.output) if self.unfinished.exists() else None
        except (OSError, ValueError):
            return False
        curves: Any = getattr(found, "history_", ())  # an outlier detector has none
        return bool(curves) and curves[-1].stopped == "interrupted"
